import { createContext } from 'react';

/** The titles of the passages behind marks, and how to open one. */
export type Passages = { titles: ReadonlyMap<number, string>; open: (mark: number) => void };

/** Null while the passages are loaded. */
export const PassagesContext = createContext<Passages | null>(null);
