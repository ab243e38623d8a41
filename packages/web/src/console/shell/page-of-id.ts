/** The page of a resource by the prefix of its id. `page` is a path of `pages.ts`. */
const byPrefix: Readonly<Record<string, { what: string; page: string }>> = {
  dep: { what: 'Deployment', page: '/deployments/$deployment' },
  conv: { what: 'Conversation', page: '/conversations/$conversation' },
  task: { what: 'Task', page: '/tasks/$task' },
  trun: { what: 'Test run', page: '/test-runs/$run' },
  rpl: { what: 'Replay', page: '/replays/$replay' },
  imp: { what: 'Improvement', page: '/improvements/$improvement' },
  nb: { what: 'Notebook', page: '/knowledge/$notebook' },
  skl: { what: 'Skill', page: '/skills/$skill' },
  mcp: { what: 'Tool server', page: '/tool-servers/$server' },
  bat: { what: 'Batch', page: '/batches/$batch' },
  rtn: { what: 'Routine', page: '/routines/$routine' },
  whk: { what: 'Webhook endpoint', page: '/webhooks/$endpoint' },
  evt: { what: 'Event', page: '/events/$event' },
};

export function pageOfId(id: string): { what: string; page: string; to: string } | null {
  const prefix = /^([a-z]+)_[A-Za-z0-9]{6,}$/.exec(id)?.[1] ?? '';
  const row = Object.hasOwn(byPrefix, prefix) ? byPrefix[prefix] : undefined;
  return row ? { ...row, to: row.page.replace(/\$\w+/, id) } : null;
}
