import type { OfferedTool, ToolList } from '../mcp-client/list-tools.ts';

const about = { isReadOnly: true, isRepeatable: true, priceUsd: null };

/**
 * What an agent reads a server's resources with. To all rules these are tools of the server, under these names; a tool of
 * its own that has one of the names goes before, since it is listed first.
 */
export function withResourceTools({ tools, ...list }: ToolList): ToolList {
  if (!list.hasResources) return { tools, ...list };
  const list_resources: OfferedTool = {
    ...about,
    name: 'list_resources',
    description: 'Lists what this server has to read, with the address, name and kind of each.',
    inputSchema: {
      type: 'object',
      properties: { cursor: { type: 'string', description: 'Where an earlier list said to go on.' } },
      additionalProperties: false,
    },
    reads: ({ cursor }) => ({ cursor: typeof cursor === 'string' ? cursor : null }),
  };
  const read_resource: OfferedTool = {
    ...about,
    name: 'read_resource',
    description: 'Reads one of the things that this server has to read, by its address.',
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'An address of `list_resources`, or one that a tool named.' } },
      required: ['uri'],
      additionalProperties: false,
    },
    reads: ({ uri }) => ({ uri: String(uri) }),
  };
  return { ...list, tools: [...tools, list_resources, read_resource] };
}
