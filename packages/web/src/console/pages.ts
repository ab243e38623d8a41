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
    path: '/keys',
    title: 'API keys',
    needs: 'keys.list',
    nav: { group: 'Account', icon: 'key' },
    load: () => import('./pages/keys/keys-page.tsx'),
    actions: [{ label: 'Create an API key', search: { new: '1' }, needs: 'keys.create' }],
  },
];
