import type { ItemOf } from '../../data/rows.ts';

export type App = ItemOf<'apps.list'>;
