import type { Company } from './company.ts';

/** The address of every page below org and mode, and the dialogs that are addresses too. */
export const pagesOf = ({ made }: Pick<Company, 'made'>): string[] => [
  ...['/', '/inbox', '/playground', `/playground?conversation=${made.conversation}`],
  ...['/deployments', '/deployments/new', '/deployments/interview', `/deployments/${made.deployment}`],
  ...[`/deployments/${made.deployment}/versions`, `/deployments/${made.deployment}/functions`],
  ...[`/deployments/${made.deployment}/ratings`, `/deployments/${made.deployment}/insights`],
  ...['/tests', '/tests?new=1', `/test-runs/${made.testRun}`],
  ...['/conversations', `/conversations/${made.conversation}`, '/tasks', `/tasks/${made.task}`],
  ...['/knowledge', `/knowledge/${made.notebook}`, '/skills', `/skills/${made.skill}`],
  ...['/tool-servers', `/tool-servers/${made.toolServer}`, '/apps', '/apps?show=connections', '/secrets'],
  ...[
    '/batches',
    '/batches?new=1',
    `/batches/${made.batch}`,
    '/routines',
    '/routines?new=1',
    `/routines/${made.routine}`,
  ],
  ...['/users', '/users/ada', '/users/ada?part=memory', '/users/ada?part=files', '/users/ada?part=computer'],
  ...['/webhooks', '/webhooks?new=1', `/webhooks/${made.endpoint}`, '/events', `/events/${made.event}`],
  ...[
    '/usage',
    '/usage?by=user',
    '/limits',
    '/limits?edit=1',
    '/audit',
    '/keys',
    '/keys?new=1',
    '/members',
    '/members?invite=1',
  ],
  ...['/settings', '/settings?part=pages', '/settings?part=memory', '/settings?part=models', '/account'],
];
