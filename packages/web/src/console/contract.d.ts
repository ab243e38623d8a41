declare module 'virtual:contract/access' {
  /** By row name: the roles that may make the call. Null: every member. */
  const access: Readonly<Record<string, readonly ('owner' | 'admin' | 'developer' | 'viewer')[] | null>>;
  export default access;
}

declare module 'virtual:contract/fields' {
  type Field = {
    readonly description?: string;
    readonly type?: string | readonly string[];
    readonly enum?: readonly string[];
    readonly default?: unknown;
    readonly example?: unknown;
    readonly maxLength?: number;
    readonly fields?: Readonly<Record<string, Field>>;
  };
  const rows: Readonly<Record<string, { readonly summary: string; readonly fields: Readonly<Record<string, Field>> }>>;

  export type { Field };
  export default rows;
}

declare module 'virtual:contract/deployment-schema' {
  const schema: Record<string, unknown>;
  export default schema;
}
