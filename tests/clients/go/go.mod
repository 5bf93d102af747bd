module play

go 1.18

require github.com/GIT_USER_ID/GIT_REPO_ID v0.0.0

require gopkg.in/validator.v2 v2.0.1

replace github.com/GIT_USER_ID/GIT_REPO_ID => ../go-client

replace gopkg.in/validator.v2 => ./stubs/validator
