/** The path of the deployment file's JSON Schema on a server, and below the folder of the npm package `vestra`. */
export const fileSchemaPath = '/schemas/service.yaml.json';

/** The schema of the installed npm package, relative to the folder that has it. */
export const packedSchemaPath = `node_modules/vestra${fileSchemaPath}`;

/** The address of the schema on a server. */
export const servedSchema = (serverUrl: string): string => `${serverUrl.replace(/\/+$/, '')}${fileSchemaPath}`;

/** The first line of a deployment file, with which YAML editors find its schema. */
export const schemaLine = (address: string): string => `# yaml-language-server: $schema=${address}\n`;
