import { type Command, commands } from '@vestra/contract/derive/commands';
import { Argument, Command as Commander, Option } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { type Binding, bindingsOf } from './bindings.ts';
import { buildRequest, readTyped, type TypedArguments } from './build-request.ts';
import { callRoute } from './call-route.ts';
import { headingOf, placeOf } from './command-groups.ts';
import { connect } from './connect.ts';
import { exampleLines } from './examples.ts';
import { addGlobalFlags, readGlobals } from './global-flags.ts';
import type { Invocation, Outline, OwnCommand } from './invocation.ts';
import { addLaunchers } from './launch.ts';
import { type LocalCommand, localCommands } from './local-commands.ts';
import { ownCommands } from './own-commands.ts';
import { precedence, readSettings, type Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { takesFile, takesFileAlone } from './upload.ts';
import { withSecret } from './with-secret.ts';

export type Program = {
  commander: Commander;
  /** Every command by its words, including local ones. */
  names: readonly string[];
  /** The exit code of the executed command. */
  exitCode: () => number;
  /** Whether --json and --debug were given, and the server and key that were used. */
  asked: () => { isJson: boolean; isDebug: boolean; settings: Settings | null };
};

/** `start` is a separate program of the server. */
const table = commands.filter(({ name }) => name !== 'start');

export function buildProgram(terminal: Terminal): Program {
  const leaves = new Map<Commander, () => void>();
  let exitCode = 0;
  let asked: ReturnType<Program['asked']> = { isJson: false, isDebug: false, settings: null };

  const commander = new Commander('vestra')
    .description('Host an AI agent: configure it once, run it for every user.')
    .version(manifest.version, '-V, --version', 'show the version')
    .usage('<command> [flags]')
    .addHelpText(
      'after',
      `\nWhich server and key, the first that is given:\n${precedence.map((each) => `  ${each}\n`).join('')}\nvestra help <command> shows the flags of a command, with examples.`,
    )
    .helpCommand(false);
  prepare(commander, terminal, leaves);

  const start = ({ isJson, isDebug }: { isJson: boolean; isDebug: boolean }) => {
    asked = { isJson, isDebug, settings: null };
  };
  const calls = (settings: Settings) => {
    asked = { ...asked, settings };
  };
  const end = (code: unknown) => {
    exitCode = typeof code === 'number' ? code : 0;
  };
  const outlines = () => {
    for (const make of [...leaves.values()]) make();
    return outlinesOf(commander);
  };
  for (const command of [...table, ...localCommands]) {
    const leaf = leafOf(commander, command.name, terminal, leaves).description(
      ownCommands[command.name]?.summary ?? command.summary,
    );
    leaves.set(leaf, () => {
      leaves.delete(leaf);
      if ('run' in command) defineLocal(leaf, command, terminal, { start, calls, end, outlines });
      else define(leaf, command, terminal, { start, calls, end });
    });
  }
  addLaunchers(commander, end);
  describeGroups(commander);
  const names = [...table, ...localCommands].map(({ name }) => name);
  return {
    commander,
    names: [...names, 'start', 'doctor', 'models try', 'setup', 'admin'],
    exitCode: () => exitCode,
    asked: () => asked,
  };
}

type Running = {
  start: (globals: { isJson: boolean; isDebug: boolean }) => void;
  calls: (settings: Settings) => void;
  end: (code: unknown) => void;
};

/** Flags are created when a command is used: creating all of them would add a tenth of a second to every call. */
function define(leaf: Commander, command: Command, terminal: Terminal, { start, calls, end }: Running): void {
  const own: OwnCommand | undefined = ownCommands[command.name];
  const bindings = bindingsOf(command, own?.positional);
  addArguments(leaf, command, bindings);
  for (const [flag, description, times] of own?.flags ?? []) {
    const option = new Option(flag, description);
    leaf.addOption(times === 'several' ? option.argParser(collect) : option);
  }
  // Every command accepts a user. It is hidden if the command does not use it.
  if (!leaf.options.some(({ long }) => long === '--user')) leaf.addOption(new Option('--user <text>').hideHelp());
  const ownNames = new Set(leaf.options.map((option) => option.attributeName()));
  addGlobalFlags(leaf);
  leaf.usage([...leaf.registeredArguments.map(shownArgument), '[flags]'].join(' '));
  leaf.addHelpText('after', exampleLines(command.name, bindings));
  if (ownNames.has('url')) {
    leaf.addHelpText(
      'after',
      `\nTo name the server too, put its --url before the command: vestra --url <address> ${command.name} …`,
    );
  }
  leaf.action(async () => {
    const globals = readGlobals(leaf, ownNames);
    start(globals);
    const flags = await withSecret(terminal, command, leaf.opts());
    const typed: TypedArguments = { words: leaf.processedArgs as TypedArguments['words'], flags };
    const invocation = invocationOf(terminal, globals, typed.flags, calls);
    if (own) return end(await own.run({ ...invocation, values: await namedValues(terminal, bindings, typed) }));
    end(await callRoute({ ...invocation, command, typed, request: await buildRequest(terminal, bindings, typed) }));
  });
}

function defineLocal(
  leaf: Commander,
  command: LocalCommand,
  terminal: Terminal,
  { start, calls, end, outlines }: Running & { outlines: () => Outline[] },
): void {
  for (const [word, description] of command.words) leaf.addArgument(new Argument(word, description));
  for (const [flag, description] of command.flags ?? []) leaf.addOption(new Option(flag, description));
  addGlobalFlags(leaf);
  leaf.usage([...leaf.registeredArguments.map(shownArgument), '[flags]'].join(' '));
  leaf.addHelpText('after', exampleLines(command.name));
  leaf.action(async () => {
    const globals = readGlobals(leaf, new Set());
    start(globals);
    const invocation = invocationOf(terminal, globals, leaf.opts(), calls);
    const words = leaf.processedArgs as (string | undefined)[];
    end(await command.run({ ...invocation, globals, words, outlines }));
  });
}

function invocationOf(
  terminal: Terminal,
  globals: ReturnType<typeof readGlobals>,
  flags: TypedArguments['flags'],
  calls: Running['calls'],
) {
  const { isJson, isDebug } = globals;
  const settings = () => readSettings(terminal, globals);
  const invocation: Omit<Invocation, 'values'> = {
    terminal,
    isJson,
    isDebug,
    flags,
    settings,
    connect: async ({ needsKey } = { needsKey: true }) => {
      const used = await settings();
      calls(used);
      return connect({ terminal, isJson, isDebug, needsKey, settings: used });
    },
  };
  return { ...invocation, values: {} };
}

async function namedValues(terminal: Terminal, bindings: readonly Binding[], typed: TypedArguments) {
  const values = await readTyped(terminal, bindings, typed);
  return Object.fromEntries([...values].map(([{ argument }, value]) => [argument.name, value]));
}

function addArguments(leaf: Commander, command: Command, bindings: readonly Binding[]): void {
  const required = requiredWords(command);
  for (const binding of bindings) {
    if (binding.isPositional) leaf.addArgument(positionalOf(binding));
    const hasNoUse = command.route !== null || ownCommands[command.name]?.takesNoUser === true;
    if (!binding.isPositional || binding.argument.name === 'user') addFlag(leaf, binding, { hasNoUse, required });
  }
  const route = command.route?.route;
  if (!route || command.name in ownCommands) return;
  if (takesFileAlone(route)) leaf.addArgument(new Argument('<path>', 'the file to upload'));
  else if (takesFile(route)) leaf.addOption(new Option('--file <path>', uploadHelp(command)));
  if (route.body && !takesFileAlone(route) && !bindings.some(({ argument }) => argument.name === 'body')) {
    leaf.addOption(new Option('--body <json>', 'The whole body as JSON or @path; flags override it.'));
  }
  if (bindings.some(({ argument }) => argument.place === 'query' && argument.name === 'cursor')) {
    leaf.addOption(new Option('--all', 'All pages, one after the other.'));
  }
  if (route.produces?.some((type) => type.startsWith('image/'))) {
    leaf.addOption(new Option('--out <path>', 'Where to write the picture; absent: standard output.'));
  }
}

const shownArgument = (argument: Argument) => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

const uploadHelp = ({ name }: Command) =>
  name.startsWith('skills ') ? 'A folder or a zip to upload.' : 'A file to upload instead of the text.';

function positionalOf(binding: Binding): Argument {
  const { argument, isRequired, shape } = binding;
  const isText = argument.place === null && shape.kind === 'text' && argument.name === 'message';
  const word = isText ? `${argument.name}...` : argument.name;
  const mayBeFlag = argument.name === 'user';
  return new Argument(isRequired && !mayBeFlag ? `<${word}>` : `[${word}]`, describeArgument(binding));
}

/** How help marks a required flag: some have another source for their value. */
function requiredWords({ name, route }: Command): string {
  if (name === 'secrets set') return 'required; a terminal asks for it';
  return route && takesFile(route.route) ? 'required without --file' : 'required';
}

type FlagHelp = { hasNoUse: boolean; required: string };

/** `hasNoUse`: the user is not part of the request. */
function addFlag(leaf: Commander, binding: Binding, { hasNoUse, required }: FlagHelp): void {
  const { argument, flag, shape, isPositional } = binding;
  const description = describeArgument(binding, required);
  const isUseless = hasNoUse && argument.place === null && argument.name === 'user';
  if (shape.kind === 'boolean') {
    leaf.addOption(new Option(flag, description));
    leaf.addOption(new Option(flag.replace('--', '--no-')).hideHelp());
    return;
  }
  const option = new Option(`${flag} ${placeholderOf(binding)}`, description);
  const isSeveral = shape.kind === 'texts' || shape.kind === 'labels';
  if (isSeveral) option.argParser(collect);
  leaf.addOption(isUseless || isPositional ? option.hideHelp() : option);
}

const collect = (value: string, before: string[] | undefined) => [...(before ?? []), value];

function leafOf(program: Commander, name: string, terminal: Terminal, leaves: Map<Commander, () => void>): Commander {
  return name.split(' ').reduce((parent, word) => {
    const found = parent.commands.find((each) => each.name() === word);
    if (found) return found;
    const made = new Commander(word).helpCommand(false).helpGroup(headingOf(word));
    prepare(made, terminal, leaves);
    parent.addCommand(made);
    return made;
  }, program);
}

function prepare(command: Commander, terminal: Terminal, leaves: Map<Commander, () => void>): void {
  command
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      // Errors are thrown and printed in one place.
      outputError: () => {},
      getOutHelpWidth: () => terminal.columns ?? 100,
      getErrHelpWidth: () => terminal.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ subcommandTerm: (sub) => sub.name() })
    .hook('preSubcommand', (_, sub) => leaves.get(sub)?.());
}

/** A first word lists its second words, and the words follow the order of their groups. */
function describeGroups(program: Commander): void {
  for (const group of program.commands) {
    if (group.commands.length === 0) continue;
    const words = group.commands.map((each) => each.name()).join(', ');
    const isAlsoCommand = group.description() !== '';
    group.summary(isAlsoCommand ? `${group.description()} Also: ${words}` : words);
    if (!isAlsoCommand) group.usage('<command> [flags]').helpOption('-h, --help', 'show this help');
  }
  const sorted = [...program.commands].sort((one, other) => placeOf(one.name()) - placeOf(other.name()));
  (program.commands as Commander[]).splice(0, program.commands.length, ...sorted);
  addGlobalFlags(program);
}

/** Every executable command with the flags that its help shows. */
function outlinesOf(command: Commander, path: readonly string[] = []): Outline[] {
  const inner = command.commands.flatMap((each) => outlinesOf(each, [...path, each.name()]));
  const isGroup = command.options.length === 0;
  if (path.length === 0 || isGroup) return inner;
  const flags = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []);
  return [{ name: path.join(' '), summary: command.description(), flags }, ...inner];
}

/** The help text of an argument: meaning, allowed values and default. */
function describeArgument({ argument, flag, shape, isRequired, isPositional }: Binding, required = 'required'): string {
  const said = shape.description;
  const facts = [
    isRequired && !isPositional && required,
    argument.name === 'user' && isPositional && 'required; also as --user',
    argument.name === 'user' && !isRequired && !said.includes('absent') && 'absent: the org’s own agent',
    shape.choices.length > 0 && shape.choices.map(String).join(', '),
    !said && shape.bounds,
    (shape.kind === 'texts' || shape.kind === 'labels') && 'may be given several times',
    (shape.kind === 'json' || shape.kind === 'labels') && 'JSON or @path',
    shape.isNullable && !/null (clears|stops) it/.test(said) && 'null clears it',
    shape.kind === 'boolean' && shape.default !== false && `${flag.replace('--', '--no-')} for the opposite`,
    showsDefault(shape.default) && `default: ${String(shape.default)}`,
  ].filter((fact) => fact !== false && fact !== '');
  return [said, facts.length > 0 && `(${facts.join('; ')})`].filter(Boolean).join(' ');
}

/** The placeholder for a flag's value. */
function placeholderOf({ shape }: Binding): string {
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
      // A query carries a number as text.
      return /^\^\(?\[1-9\]\[0-9\]/.test(shape.pattern) ? '<number>' : '<text>';
  }
}

const showsDefault = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '';
