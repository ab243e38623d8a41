/** What a version fixes: of each notebook a revision, of each skill of the org the hash of its files. */
export type FixedContent = {
  notebooks: Readonly<Record<string, number>>;
  skills: Readonly<Record<string, string>>;
};

export const noContent: FixedContent = { notebooks: {}, skills: {} };
