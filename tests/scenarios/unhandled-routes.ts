/** Routes that answer 501 for now. A line may go, none may come. */
export const unhandledRoutes: readonly string[] = [
  'apps.list',
  'browser.cookies',
  'browser.fetch',
  'browser.watch',
  'connections.create',
  'connections.delete',
  'connections.list',
  'protocols.a2a',
  'protocols.agentCard',
  'protocols.mcp',
  'sessions.screen',
  'sessions.voice',
  'users.screenshot',
  'users.warm',
];
