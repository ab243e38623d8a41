/** Where a server offers the JSON Schema of the deployment file. */
export const fileSchemaPath = '/schemas/service.yaml.json';

/** The first line of a deployment file: what YAML editors find its schema by. */
export const schemaLine = (serverUrl: string): string =>
  `# yaml-language-server: $schema=${serverUrl.replace(/\/+$/, '')}${fileSchemaPath}\n`;
