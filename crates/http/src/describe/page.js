SwaggerUIBundle({
  url: "/api/v1/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  tagsSorter: "alpha",
  // Nobody outside of this server is asked whether the document is valid.
  validatorUrl: null,
});
