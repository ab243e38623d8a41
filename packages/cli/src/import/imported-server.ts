import { headerExposesCredential, urlExposesCredential } from '@vestra/contract/exposed-credential';
import type { ImportedAgent, ImportedServer } from './imported-agent.ts';
import { oneLine } from './loose-value.ts';

const mostTools = 50;

/** Adds an MCP server, or the reason why its address cannot be used. */
export function addServer(agent: ImportedAgent, server: ImportedServer): void {
  const name = oneLine(server.name ?? '', 80) || oneLine(hostOf(server.mcp), 80);
  const drop = (instead: string) => agent.gaps.push({ what: `MCP server \`${name}\``, instead });
  if (!URL.canParse(server.mcp) || !/^https?:$/.test(new URL(server.mcp).protocol) || server.mcp.length > 2048)
    return void drop('The export has no https address for it. Add it under `tools` as `mcp: https://…`.');
  if (urlExposesCredential(server.mcp) || server.mcp.includes('${')) {
    const { origin, pathname } = new URL(server.mcp);
    return void drop(
      `Its address has a credential in it, which Vestra refuses. If the server accepts the credential in a header, add \`mcp: ${origin}${pathname.includes('$') ? '/…' : pathname}\` with \`auth: \${NAME}\`.`,
    );
  }
  if (agent.servers.some(({ mcp }) => mcp === server.mcp)) return;
  if (agent.functions.length + agent.servers.length >= mostTools)
    return void drop('A deployment has at most 50 tools. Remove some, then add this server.');
  const { headers = {}, ...rest } = server;
  const exposed = Object.keys(headers).filter((header) => headerExposesCredential(header, headers[header] as string));
  for (const header of exposed)
    agent.gaps.push({
      what: `Header \`${header}\` of the MCP server \`${name}\``,
      instead: `Store its value with \`vestra secrets set NAME\`, and add \`${header}: \${NAME}\` under \`headers\`.`,
    });
  const kept = Object.entries(headers).filter(([header]) => !exposed.includes(header));
  agent.servers.push({ ...rest, name, ...(kept.length > 0 && { headers: Object.fromEntries(kept) }) });
  agent.taken.push(`MCP server \`${name}\` at ${server.mcp}.`);
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'without an address');

const toolName = /^[A-Za-z0-9_.-]{1,128}$/;

/** Only names that the contract accepts; undefined if there is none. */
export function toolNamesIn(names: readonly string[]): string[] | undefined {
  const fitting = [...new Set(names)].filter((name) => toolName.test(name)).slice(0, 200);
  return fitting.length === 0 ? undefined : fitting;
}

/** Headers whose credentials are references. `Bearer ${NAME}` becomes `auth`. */
export function headersFrom(given: Readonly<Record<string, string>>): Pick<ImportedServer, 'auth' | 'headers'> {
  const fitting = Object.entries(given).filter(
    ([name, value]) => /^[A-Za-z0-9-]{1,64}$/.test(name) && /^\P{Cc}{1,2048}$/u.test(value),
  );
  const bearer = fitting.find(([name]) => name.toLowerCase() === 'authorization');
  const auth = /^(?:Bearer )?(\$\{[A-Z][A-Z0-9_]{0,63}\})$/.exec(bearer?.[1] ?? '')?.[1];
  const rest = fitting.filter((header) => header !== bearer || auth === undefined);
  return {
    ...(auth !== undefined && { auth }),
    ...(rest.length > 0 && { headers: Object.fromEntries(rest) }),
  };
}
