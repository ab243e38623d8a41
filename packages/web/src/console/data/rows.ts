import type { Api } from '@vestra/contract/api';
import type { AnswerOf, FieldsOf } from '@vestra/contract/call';
import type { Route } from '@vestra/contract/route';

/** Names of API calls, such as `keys.create`. */
export type RowName = { [F in keyof Api]: `${F}.${keyof Api[F] & string}` }[keyof Api];

type RouteOf<Name extends RowName> = Name extends `${infer F extends keyof Api}.${infer O}`
  ? O extends keyof Api[F]
    ? Api[F][O] extends Route
      ? Api[F][O]
      : never
    : never
  : never;

export type Fields<Name extends RowName> = Name extends RowName ? FieldsOf<RouteOf<Name>> : never;
export type RouteAnswer<Name extends RowName> = AnswerOf<RouteOf<Name>>;

/** The calls that return pages. */
export type ListName = {
  [Name in RowName]: RouteAnswer<Name> extends { data: readonly unknown[]; next_cursor: string | null } ? Name : never;
}[RowName];

export type ItemOf<Name extends ListName> = RouteAnswer<Name> extends { data: readonly (infer Item)[] } ? Item : never;

/** An API call that can be shown, copied or repeated. */
export type Request = { row: RowName; fields: Readonly<Record<string, unknown>> };

export const familyOf = (row: string): string => row.split('.')[0] as string;
