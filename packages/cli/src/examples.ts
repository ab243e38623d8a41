import type { Binding } from './bindings.ts';

/** Hand-written examples for commands that do more than call a route or that users meet first. */
const written: Readonly<Record<string, readonly string[]>> = {
  init: [
    'vestra init',
    'vestra init --template support-desk',
    'vestra init --template it-desk --deployment helpdesk --out agents/helpdesk',
    'vestra init --deployment shop --describe "Answers customers of a bicycle shop." --file shop.yaml',
  ],
  import: [
    'vestra import openai assistant.json',
    'vestra import dify returns-desk.yml --out returns-desk',
    'vestra import langgraph langgraph.json --assistant assistant.json',
  ],
  diff: ['vestra diff', 'vestra diff examples/support-desk --exit-code'],
  apply: ['vestra apply', 'vestra apply examples/support-desk --promote no', 'vestra apply shop.yaml --dry-run'],
  test: ['vestra test', 'vestra test support-desk --json'],
  improve: [
    'vestra improve --from ratings --budget-usd 5',
    'vestra improve examples/support-desk --from conv_01m7hkqxrb9ynhrwe4350gw7 --pr',
  ],
  dev: ['vestra dev', 'vestra dev examples/support-desk --user ada'],
  ask: [
    'vestra ask "Where is my order?" --user ada',
    'vestra ask "And the other one?" --conversation conv_01m7hkqxrb9ynhrwe4350gw7',
    'vestra ask "What does this say?" --attach contract.pdf --json',
  ],
  answer: [
    'vestra answer',
    'vestra answer int_01m7hkqxrb9ynhrwe4350gw7 --approve --present-user',
    'vestra answer --user ada --answers M --answers "In blue"',
    'vestra answer call_01m7hkqxrb9ynhrwe4350gw7 --output \'{"refunded": true}\'',
  ],
  trace: ['vestra trace conv_01m7hkqxrb9ynhrwe4350gw7', 'vestra trace task_01m7hkqxrb9ynhrwe4350gw7 --json'],
  embed: ['vestra embed --user ada --deployment support-desk', 'vestra embed --user ada --screen view'],
  open: ['vestra open --user ada', 'vestra open docs'],
  events: [
    'vestra events --limit 50',
    'vestra events --conversation conv_01m7hkqxrb9ynhrwe4350gw7 --follow',
    'vestra events --type task.failed --follow',
  ],
  logs: ['vestra logs', 'vestra logs --type reply.completed --json'],
  listen: [
    'vestra listen --to localhost:3000/hooks',
    'vestra listen --to localhost:3000 --types task.completed,turn.failed',
  ],
  start: ['vestra start', 'PORT=4700 vestra start', 'vestra start --port 4700 --host 0.0.0.0'],
  doctor: ['vestra doctor', 'vestra doctor --json'],
  'models try': ['vestra models try', 'vestra models try claude-opus-5-5 gpt-6.1-terra --yes --record recording.json'],
  setup: ['vestra setup voice'],
  status: ['vestra status', 'vestra status --profile work'],
  whoami: ['vestra whoami'],
  login: [
    'vestra login',
    'vestra login --profile work --url https://vestra.example.com',
    'pass vestra | vestra login --url https://vestra.example.com --key -',
  ],
  logout: ['vestra logout', 'vestra logout --profile work'],
  profiles: ['vestra profiles', 'vestra profiles work'],
  completion: ['eval "$(vestra completion bash)"', 'vestra completion fish > ~/.config/fish/completions/vestra.fish'],
  'conversations create': ['vestra conversations create --user ada --deployment shop --message "Where is my order?"'],
  'conversations send': ['vestra conversations send conv_01m7hkqxrb9ynhrwe4350gw7 --message "And the other one?"'],
  'interactions answer': ['vestra interactions answer int_01m7hkqxrb9ynhrwe4350gw7 --approve --present-user'],
  'sessions create': ['vestra sessions create --user ada --deployment shop --chat'],
  'browser fetch': ['vestra browser fetch ada --url https://example.com'],
  'mcp-servers create': ['vestra mcp-servers create --name Orders --slug orders --url https://orders.example.com/mcp'],
  'functions set-endpoint': ['vestra functions set-endpoint shop --url https://shop.example.com/functions'],
  'app-clients set': ['vestra app-clients set github --client-id Iv1.8a61f9b3a7aba766'],
  'identity-provider set': [
    'vestra identity-provider set --issuer https://login.example.com --client-id vestra --allowed-domains example.com --default-role developer',
  ],
  'keys create': ['vestra keys create --name shop --scopes runtime'],
  'limits update': ['vestra limits update --caps \'{"org_daily_usd": 400, "user_daily_usd": 25}\''],
  'members invite': ['vestra members invite --email ada@example.com --role developer'],
  'members update': ['vestra members update mbr_01m7hkqxrb9ynhrwe4350gw7 --role admin'],
  'org update': ['vestra org update --allowed-embed-origins https://shop.example.com'],
  'usage line-items': ['vestra usage line-items --conversation-id conv_01m7hkqxrb9ynhrwe4350gw7'],
  'functions serve': [
    'vestra functions serve functions.ts',
    'vestra functions serve functions.ts --deployment shop --watch',
  ],
  'routines add': ['vestra routines add --ask "List the orders that are late." --every "weekday at 08:00"'],
  'secrets set': ['vestra secrets set ORDERS_TOKEN', 'pass orders | vestra secrets set ORDERS_TOKEN --value -'],
  'files upload': ['vestra files upload report.pdf --user ada'],
  'documents convert': ['vestra documents convert policy.docx'],
  'documents create': [
    'vestra documents create nb_01m7hkqxrb9ynhrwe4350gw7 --file policy.docx --title "Returns policy"',
  ],
  'skills create': ['vestra skills create --file ./skills/returns'],
  'skills replace': ['vestra skills replace skl_01m7hkqxrb9ynhrwe4350gw7 --file ./skills/returns'],
  'users screenshot': ['vestra users screenshot ada --out screen.jpg'],
  insights: ['vestra insights shop', 'vestra insights shop --kind tool_error --from 2026-11-01 --to 2026-11-14'],
  usage: ['vestra usage --group-by user --from 2026-11-01 --to 2026-11-30'],
};

/** The end of a command's help. */
export const exampleLines = (name: string, bindings: readonly Binding[] = []): string =>
  `\nExamples:\n${examplesOf(name, bindings)
    .map((each) => `  ${each}`)
    .join('\n')}`;

/** The written examples above, or one with a value for each required argument. */
function examplesOf(name: string, bindings: readonly Binding[]): readonly string[] {
  const found = written[name];
  if (found) return found;
  const needed = bindings.filter(({ isRequired }) => isRequired);
  // An update example needs a field to change.
  const changed = bindings.find(({ argument }) => argument.place === 'body');
  if (/ update$/.test(name) && changed && !needed.includes(changed)) needed.push(changed);
  const words = needed.map((binding) => {
    if (binding.isPositional) return sampleOf(binding);
    return binding.shape.kind === 'boolean' ? binding.flag : `${binding.flag} ${sampleOf(binding)}`;
  });
  return [['vestra', name, ...words].join(' ')];
}

/** Sample values by name that say more than a generic text. */
const samples: Readonly<Record<string, string>> = {
  app: 'github',
  ask: '"List the orders that are late."',
  content: '"Keeps a list of orders."',
  cron: '"0 8 * * 1"',
  deployment: 'shop',
  deployment_id: 'shop',
  description: '"Answers about orders."',
  domain: 'example.com',
  email: 'ada@example.com',
  message: '"Hello"',
  name: 'shop',
  password: '-',
  query: '"orders of last week"',
  skill_id: 'returns',
  slug: 'shop',
  names: 'session',
  text: '"Prefers tea."',
  title: '"Returns policy"',
  turn_id: 'turn_01m7hkqxrb9ynhrwe4350gw7',
  url: 'https://example.com/hooks',
  user: 'ada',
  value: '-',
  version: '3',
};

function sampleOf({ argument, shape }: Binding): string {
  const [first] = shape.choices;
  if (first !== undefined) return String(first);
  const named = samples[argument.name];
  if (named) return named;
  const prefix = /\^\(?(?:\?:)?([a-z]+)_/.exec(shape.pattern)?.[1];
  if (prefix) return `${prefix}_01m7hkqxrb9ynhrwe4350gw7`;
  switch (shape.kind) {
    case 'number':
      return '5';
    case 'labels':
      return 'plan=pro';
    case 'json':
      return `@${argument.name}.json`;
    default:
      return 'text';
  }
}
