// The type of a problem links to its description, which is below the contract.
const linked = document.getElementById(location.hash.slice(1));

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.onchange = () => document.documentElement.classList.toggle("dark-mode", dark.matches); // of Swagger UI
dark.onchange();

async function ask(path, body) {
  const request = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, request);
  return response.json();
}

// The examples of sealed operations get a token of this service and the key of the seat to move, so that they work.
async function sealExamples(contract) {
  const { sealed, keys } = await ask("/v1/sealed/start", { game: "doudizhu" });
  if (!sealed) return; // the service has no seal keys
  const { view } = await ask("/v1/sealed/view", { sealed });
  for (const [path, { post }] of Object.entries(contract.paths)) {
    if (!path.startsWith("/v1/sealed/")) continue;
    for (const { value } of Object.values(post.requestBody.content["application/json"].examples)) {
      if ("sealed" in value) value.sealed = sealed;
      if ("key" in value) value.key = keys[view.turn];
    }
  }
}

const spec = await ask("/openapi.json");
await sealExamples(spec);
// Swagger UI shows the contract, and sends requests to the host that served this page.
SwaggerUIBundle({
  spec,
  domNode: document.getElementById("contract"),
  deepLinking: linked === null,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  onComplete() {
    linked?.scrollIntoView();
  },
});
