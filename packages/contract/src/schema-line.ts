/** The path of the deployment file's JSON Schema on a server. */
export const fileSchemaPath = '/schemas/service.yaml.json';

/** The first line of a deployment file, with which YAML editors find its schema. */
export const schemaLine = (serverUrl: string): string =>
  `# yaml-language-server: $schema=${serverUrl.replace(/\/+$/, '')}${fileSchemaPath}\n`;
