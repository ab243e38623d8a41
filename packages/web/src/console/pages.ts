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
    path: '/keys',
    title: 'API keys',
    needs: 'keys.list',
    nav: { group: 'Account', icon: 'key' },
    load: () => import('./pages/keys/keys-page.tsx'),
    actions: [{ label: 'Create an API key', search: { new: '1' }, needs: 'keys.create' }],
  },
];
