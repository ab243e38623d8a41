import { deploymentFile } from '../deployment-file.ts';
import { type JsonSchema, toJsonSchema } from './json-schema.ts';

/**
 * JSON Schema of the deployment file, with which editors complete and check it. Its id is a name, not an address, so
 * that it is the same on every server of a version.
 */
export function fileSchema(version: string): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:vestra:service.yaml:${version}`,
    title: 'Vestra deployment file',
    description: 'A whole deployment: the agent, its tools and knowledge, and its tests.',
    ...toJsonSchema(deploymentFile, 'input'),
  };
}
