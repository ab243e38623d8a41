import { createContext } from 'react';

/** The number that the reader sees for each mark of a text: `[7]` may be its first source. */
export const MarkNumbers = createContext<ReadonlyMap<number, number>>(new Map());
