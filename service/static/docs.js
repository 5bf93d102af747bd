// The type of a problem links to its description, which is below the contract.
const linked = document.getElementById(location.hash.slice(1));

// Swagger UI shows the contract, and sends requests to the host that served this page.
SwaggerUIBundle({
  url: "/openapi.yaml",
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
