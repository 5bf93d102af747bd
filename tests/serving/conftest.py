"""What the tests of servers share."""

from tests.support.service.running import running as running
