// The type of a problem links to its description, which is below the contract.
const linked = document.getElementById(location.hash.slice(1));

// Swagger UI shows the contract, and sends requests to the host that served this page.
const ui = SwaggerUIBundle({
  url: "/openapi.yaml",
  domNode: document.getElementById("contract"),
  deepLinking: linked === null,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  onComplete() {
    const schemas = ui.specSelectors.specJson().toJS().components.schemas;
    for (const description of document.querySelectorAll("[data-schema]")) {
      const parts = schemas[description.dataset.schema].description.split("`");
      const code = (text) => Object.assign(document.createElement("code"), { textContent: text });
      description.replaceChildren(...parts.map((part, at) => (at % 2 ? code(part) : part)));
    }
    linked?.scrollIntoView();
  },
});
