import type { Command } from '@vestra/contract/derive/commands';
import type { z } from 'zod';
import { type ArgumentShape, shapeOf } from './argument-shape.ts';

type CommandArgument = Command['arguments'][number];

/** One argument of a command. */
export type Binding = {
  argument: CommandArgument;
  /** `--output-schema` */
  flag: string;
  /** Commander's name for the flag's value. */
  attribute: string;
  /** Typed without its flag. A user in the path accepts both forms. */
  isPositional: boolean;
  isRequired: boolean;
  shape: ArgumentShape;
};

/** The arguments of a command. `positional` names those that are typed without a flag. */
export function bindingsOf(command: Command, positional: readonly string[] = []): Binding[] {
  const typed = command.arguments.filter(({ name }) => /^[a-z][a-z0-9_]*$/.test(name));
  return typed.map((argument) => ({
    argument,
    flag: `--${argument.name.replaceAll('_', '-')}`,
    attribute: argument.name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    isPositional: argument.place === 'params' || positional.includes(argument.name),
    isRequired: isRequired(command, argument),
    shape: shapeOfArgument(argument),
  }));
}

/** Every `metadata` argument is typed as labels, also if its values are arbitrary. */
function shapeOfArgument({ name, schema }: CommandArgument): ArgumentShape {
  const shape = shapeOf(schema);
  return name === 'metadata' && shape.kind === 'json' ? { ...shape, kind: 'labels' } : shape;
}

/** Whether the server rejects the request without it. */
function isRequired({ route }: Command, { place, field, schema }: CommandArgument): boolean {
  if (place === 'params') return true;
  const parent = place && route ? route.route[place] : undefined;
  // `user` is always optional in the table, but the field behind it may be required.
  const own =
    field === null ? undefined : (parent as { shape?: Record<string, z.ZodType> } | undefined)?.shape?.[field];
  return !(own ?? schema).safeParse(undefined).success;
}
