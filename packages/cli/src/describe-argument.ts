import type { Binding } from './bindings.ts';

/** The help text of an argument: meaning, allowed values and default. */
export function describeArgument({ argument, flag, shape, isRequired, isPositional }: Binding): string {
  const said = shape.description;
  const facts = [
    isRequired && !isPositional && 'required',
    argument.name === 'user' && isPositional && 'required; also as --user',
    argument.name === 'user' && !isRequired && !said.includes('absent') && 'absent: the org’s own agent',
    shape.choices.length > 0 && shape.choices.map(String).join(', '),
    !said && shape.bounds,
    (shape.kind === 'texts' || shape.kind === 'labels') && 'may be given several times',
    (shape.kind === 'json' || shape.kind === 'labels') && 'JSON or @path',
    shape.isNullable && 'null clears it',
    shape.kind === 'boolean' && shape.default !== false && `${flag.replace('--', '--no-')} for the opposite`,
    showsDefault(shape.default) && `default: ${String(shape.default)}`,
  ].filter((fact) => fact !== false && fact !== '');
  return [said, facts.length > 0 && `(${facts.join('; ')})`].filter(Boolean).join(' ');
}

/** The placeholder for a flag's value. */
export function placeholderOf({ shape }: Binding): string {
  switch (shape.kind) {
    case 'number':
      return '<number>';
    case 'json':
      return '<json>';
    case 'labels':
      return '<key=value>';
    case 'choice':
      return '<word>';
    case 'mixed':
      return '<value>';
    default:
      return '<text>';
  }
}

const showsDefault = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '';
