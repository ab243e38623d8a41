import type { RowName } from './data/rows.ts';
import type { IconName } from './parts/icons.tsx';

/** What the palette offers besides going to a page. It is an address too, so that it can be shared and gone back from. */
type PageAction = { label: string; search: Record<string, string>; needs: RowName };

export type PageRow = {
  /** Below org and mode; `$name` stands for a part that differs. */
  path: string;
  title: string;
  load: () => Promise<{ default: () => React.ReactNode }>;
  /** The call without which there is nothing to see: a role that may not make it is not offered the page. */
  needs: RowName | null;
  /** Where it stands in the navigation; absent: it is reached from another page. */
  nav?: { group: (typeof groups)[number]; icon: IconName };
  actions?: readonly PageAction[];
};

export const groups = ['', 'Build', 'Run', 'Account'] as const;

/** Every page, in the order of the navigation. */
export const pages: readonly PageRow[] = [
  {
    path: '/',
    title: 'Home',
    needs: null,
    nav: { group: '', icon: 'home' },
    load: () => import('./pages/home/home-page.tsx'),
  },
  {
    path: '/inbox',
    title: 'Inbox',
    needs: 'interactions.list',
    nav: { group: '', icon: 'inbox' },
    load: () => import('./pages/inbox/inbox-page.tsx'),
  },
  {
    path: '/playground',
    title: 'Playground',
    needs: 'conversations.create',
    nav: { group: '', icon: 'play' },
    load: () => import('./pages/playground/playground-page.tsx'),
  },
  {
    path: '/deployments',
    title: 'Deployments',
    needs: 'deployments.list',
    nav: { group: 'Build', icon: 'deployment' },
    load: () => import('./pages/deployments/deployments-page.tsx'),
  },
  {
    path: '/deployments/new',
    title: 'New deployment',
    needs: 'deployments.put',
    load: () => import('./pages/deployments/new-deployment-page.tsx'),
    actions: [{ label: 'Write a new deployment', search: {}, needs: 'deployments.put' }],
  },
  {
    path: '/deployments/interview',
    title: 'Interview',
    needs: 'deployments.interview',
    load: () => import('./pages/deployments/interview-page.tsx'),
    actions: [{ label: 'Make an agent by interview', search: {}, needs: 'deployments.interview' }],
  },
  {
    path: '/deployments/$deployment',
    title: 'Deployment',
    needs: 'deployments.get',
    load: () => import('./pages/deployment/file-tab.tsx'),
  },
  {
    path: '/deployments/$deployment/versions',
    title: 'Versions of a deployment',
    needs: 'deployments.listVersions',
    load: () => import('./pages/deployment/versions-tab.tsx'),
  },
  {
    path: '/deployments/$deployment/functions',
    title: 'Functions of a deployment',
    needs: 'functions.list',
    load: () => import('./pages/deployment/functions-tab.tsx'),
  },
  {
    path: '/tests',
    title: 'Tests',
    needs: 'scenarios.list',
    nav: { group: 'Build', icon: 'test' },
    load: () => import('./pages/tests/tests-page.tsx'),
    actions: [{ label: 'Add a scenario', search: { new: '1' }, needs: 'scenarios.create' }],
  },
  {
    path: '/test-runs/$run',
    title: 'Test run',
    needs: 'testRuns.get',
    load: () => import('./pages/test-run/test-run-page.tsx'),
  },
  {
    path: '/conversations',
    title: 'Conversations',
    needs: 'conversations.list',
    nav: { group: 'Run', icon: 'conversation' },
    load: () => import('./pages/conversations/conversations-page.tsx'),
  },
  {
    path: '/conversations/$conversation',
    title: 'Conversation',
    needs: 'conversations.get',
    load: () => import('./pages/conversation/conversation-page.tsx'),
  },
  {
    path: '/tasks',
    title: 'Tasks',
    needs: 'tasks.list',
    nav: { group: 'Run', icon: 'task' },
    load: () => import('./pages/tasks/tasks-page.tsx'),
  },
  {
    path: '/tasks/$task',
    title: 'Task',
    needs: 'tasks.get',
    load: () => import('./pages/task/task-page.tsx'),
  },
  {
    path: '/knowledge',
    title: 'Knowledge',
    needs: 'notebooks.list',
    nav: { group: 'Build', icon: 'book' },
    load: () => import('./pages/knowledge/knowledge-page.tsx'),
    actions: [{ label: 'Create a notebook', search: { new: '1' }, needs: 'notebooks.create' }],
  },
  {
    path: '/knowledge/$notebook',
    title: 'Notebook',
    needs: 'notebooks.get',
    load: () => import('./pages/knowledge/notebook-page.tsx'),
  },
  {
    path: '/skills',
    title: 'Skills',
    needs: 'skills.list',
    nav: { group: 'Build', icon: 'skill' },
    load: () => import('./pages/skills/skills-page.tsx'),
    actions: [{ label: 'Upload a skill', search: { new: '1' }, needs: 'skills.create' }],
  },
  {
    path: '/skills/$skill',
    title: 'Skill',
    needs: 'skills.get',
    load: () => import('./pages/skills/skill-page.tsx'),
  },
  {
    path: '/tool-servers',
    title: 'Tool servers',
    needs: 'mcpServers.list',
    nav: { group: 'Build', icon: 'server' },
    load: () => import('./pages/tool-servers/tool-servers-page.tsx'),
    actions: [{ label: 'Register a tool server', search: { new: '1' }, needs: 'mcpServers.create' }],
  },
  {
    path: '/tool-servers/$server',
    title: 'Tool server',
    needs: 'mcpServers.get',
    load: () => import('./pages/tool-servers/server-page.tsx'),
  },
  {
    path: '/apps',
    title: 'Apps',
    needs: 'apps.list',
    nav: { group: 'Build', icon: 'app' },
    load: () => import('./pages/apps/apps-page.tsx'),
    actions: [{ label: 'Connect an app', search: { connect: '1' }, needs: 'connections.create' }],
  },
  {
    path: '/secrets',
    title: 'Secrets',
    needs: 'secrets.list',
    nav: { group: 'Build', icon: 'secret' },
    load: () => import('./pages/secrets/secrets-page.tsx'),
    actions: [{ label: 'Set a secret', search: { set: '1' }, needs: 'secrets.put' }],
  },
  {
    path: '/batches',
    title: 'Batches',
    needs: 'batches.list',
    nav: { group: 'Run', icon: 'batch' },
    load: () => import('./pages/batches/batches-page.tsx'),
    actions: [{ label: 'Start a batch', search: { new: '1' }, needs: 'batches.create' }],
  },
  {
    path: '/batches/$batch',
    title: 'Batch',
    needs: 'batches.get',
    load: () => import('./pages/batches/batch-page.tsx'),
  },
  {
    path: '/routines',
    title: 'Routines',
    needs: 'routines.list',
    nav: { group: 'Run', icon: 'routine' },
    load: () => import('./pages/routines/routines-page.tsx'),
    actions: [{ label: 'Create a routine', search: { new: '1' }, needs: 'routines.create' }],
  },
  {
    path: '/routines/$routine',
    title: 'Routine',
    needs: 'routines.get',
    load: () => import('./pages/routines/routine-page.tsx'),
  },
  {
    path: '/users',
    title: 'Users',
    needs: 'users.list',
    nav: { group: 'Run', icon: 'user' },
    load: () => import('./pages/users/users-page.tsx'),
    actions: [{ label: 'Create a user', search: { new: '1' }, needs: 'users.create' }],
  },
  {
    path: '/users/$user',
    title: 'User',
    needs: 'users.get',
    load: () => import('./pages/users/user-page.tsx'),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    needs: 'webhooks.list',
    nav: { group: 'Run', icon: 'webhook' },
    load: () => import('./pages/webhooks/webhooks-page.tsx'),
    actions: [{ label: 'Add a webhook endpoint', search: { new: '1' }, needs: 'webhooks.create' }],
  },
  {
    path: '/webhooks/$endpoint',
    title: 'Webhook endpoint',
    needs: 'webhooks.get',
    load: () => import('./pages/webhooks/endpoint-page.tsx'),
  },
  {
    path: '/events',
    title: 'Events',
    needs: 'events.list',
    nav: { group: 'Run', icon: 'event' },
    load: () => import('./pages/events/events-page.tsx'),
  },
  {
    path: '/events/$event',
    title: 'Event',
    needs: 'events.get',
    load: () => import('./pages/events/event-page.tsx'),
  },
  {
    path: '/usage',
    title: 'Usage',
    needs: 'usage.report',
    nav: { group: 'Account', icon: 'usage' },
    load: () => import('./pages/usage/usage-page.tsx'),
  },
  {
    path: '/limits',
    title: 'Limits and alerts',
    needs: 'limits.get',
    nav: { group: 'Account', icon: 'limit' },
    load: () => import('./pages/limits/limits-page.tsx'),
    actions: [{ label: 'Change limits', search: { edit: '1' }, needs: 'limits.update' }],
  },
  {
    path: '/audit',
    title: 'Audit log',
    needs: 'auditLog.list',
    nav: { group: 'Account', icon: 'audit' },
    load: () => import('./pages/audit/audit-page.tsx'),
  },
  {
    path: '/keys',
    title: 'API keys',
    needs: 'keys.list',
    nav: { group: 'Account', icon: 'key' },
    load: () => import('./pages/keys/keys-page.tsx'),
    actions: [{ label: 'Create an API key', search: { new: '1' }, needs: 'keys.create' }],
  },
  {
    path: '/members',
    title: 'Members',
    needs: 'members.list',
    nav: { group: 'Account', icon: 'members' },
    load: () => import('./pages/members/members-page.tsx'),
    actions: [{ label: 'Invite a member', search: { invite: '1' }, needs: 'members.invite' }],
  },
  {
    path: '/settings',
    title: 'Org settings',
    needs: 'orgs.get',
    nav: { group: 'Account', icon: 'settings' },
    load: () => import('./pages/settings/settings-page.tsx'),
  },
  {
    path: '/account',
    title: 'Your account',
    needs: 'consoleAccount.show',
    load: () => import('./pages/account/account-page.tsx'),
  },
];
