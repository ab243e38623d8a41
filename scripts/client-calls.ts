import { type RouteRow, routes } from '@vestra/contract/api';
import { z } from 'zod';

/**
 * Generates the client's type with a documented member for each call, so that editors show the contract's descriptions.
 */
export function callsModule(): string {
  const families = Map.groupBy(routes, ({ family }) => family);
  const members = [...families].map(([family, rows]) =>
    [`  ${family}: {`, ...rows.flatMap((row) => [...commentOf(row), memberOf(row)]), '  };'].join('\n'),
  );
  return `/** Written by \`npm run fix\` from the table of routes. */
import type { Api } from '@vestra/contract/api';
import type { Call } from './call.ts';

/** Every route as \`client.<family>.<operation>(fields, options)\`. */
export type Calls = {
${members.join('\n')}
};
`;
}

const memberOf = ({ family, operation }: RouteRow) => `    ${operation}: Call<Api['${family}']['${operation}']>;`;

function commentOf({ route }: RouteRow): string[] {
  const opensTo = route.auth === 'key' ? `scope ${[route.scopes].flat().join(' or ')}` : route.auth;
  const command = route.command ? `; \`vestra ${route.command}\`` : '';
  const codes = route.errors.map((code) => `\`${code}\``);
  const lines = [
    route.summary,
    '',
    route.description,
    '',
    `\`${route.method} ${route.path}\`, ${opensTo}${command}`,
    ...withSpace(fieldsOf(route)),
    ...withSpace(codes.length > 0 ? [`@throws {VestraError} ${codes.join(', ')}`] : []),
  ];
  return ['    /**', ...lines.map((line) => `     * ${line.replaceAll('*/', '*\\/')}`.trimEnd()), '     */'];
}

/** The contract's descriptions of all input fields. */
function fieldsOf({ params, query, body }: RouteRow['route']): string[] {
  return [params, query, body].flatMap((schema) => {
    if (!schema) return [];
    const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return Object.entries(properties).flatMap(([name, field]) =>
      typeof field === 'object' && field.description ? [`- \`${name}\`: ${field.description}`] : [],
    );
  });
}

const withSpace = (lines: readonly string[]) => (lines.length > 0 ? ['', ...lines] : []);
