import type { Api } from '@vestra/contract/api';
import type { ErrorCode } from '@vestra/contract/errors';
import type { Mode, ResponseOf } from '@vestra/contract/route';
import type { Caller, Origin, Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import type { DeploymentRow, FileObjects, VersionTests } from '../deployments/api.ts';

/** What applying a file needs of the domains around it. Each speaks in the transaction that it is given. */
export type ApplyPorts = {
  mcpServers: McpServerPort;
  skills: SkillPort;
  notebooks: NotebookPort;
  /** Files are kept apart per mode. */
  files: { exist: Exist<Tenant> };
  /** The names among these under which the company stored a secret in this mode. */
  secrets: { stored: (tx: Transaction, tenant: Tenant, names: readonly string[]) => Promise<ReadonlySet<string>> };
  scenarios: ScenarioPort;
  routines: RoutinePort;
  webhooks: WebhookPort;
  testRuns: TestRunPort;
  /** Whether a model may be named; `default` always may. */
  catalogue: { has: (model: string) => boolean };
  /** Whether users can connect an app of this id. */
  apps: { has: (id: string) => boolean };
  /** Why an address must not be called, or null. The sentence never repeats the address. */
  refuseAddress: (address: string) => string | null;
  /** What is wrong with a JSON Schema, or null. */
  faultOfSchema: (schema: Readonly<Record<string, unknown>>) => string | null;
};

/**
 * Those of the ids that the owner has. With `hold` none of them can be deleted until the transaction ends (`FOR KEY
 * SHARE`); without it nothing is locked, so that looking costs no write.
 */
type Exist<Owner> = (
  tx: Transaction,
  owner: Owner,
  ids: readonly string[],
  options: Hold,
) => Promise<ReadonlySet<string>>;

export type Hold = { hold: boolean };

export type RegisteredServer = {
  id: string;
  slug: string;
  name: string;
  url: string;
  /** Credentials as `${secret:NAME}` and `${user_secret:NAME}`; empty where the server needs none. */
  headers: Readonly<Record<string, string>>;
};

type McpServerPort = {
  /**
   * The org's servers at these addresses, oldest first. Two spellings of one address (the case of the host, a default
   * port, an empty path) are the same: an address is compared as `new URL(text).href`, and given here in that form.
   */
  findByAddress: (
    tx: Transaction,
    orgId: string,
    addresses: readonly string[],
    options: Hold,
  ) => Promise<RegisteredServer[]>;
  findById: (db: Executor, orgId: string, ids: readonly string[], options: Hold) => Promise<RegisteredServer[]>;
  takenSlugs: (tx: Transaction, orgId: string, slugs: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Registers a server with an empty floor and its audit row; nothing where the slug was taken meanwhile. */
  register: (
    tx: Transaction,
    origin: Origin,
    server: Omit<RegisteredServer, 'id'>,
  ) => Promise<RegisteredServer | undefined>;
  /** Changes name or headers for every deployment, with its audit row. Who may is asked by `assertMayChange` before. */
  update: (
    tx: Transaction,
    origin: Origin,
    serverId: string,
    changes: Partial<Pick<RegisteredServer, 'name' | 'headers'>>,
  ) => Promise<RegisteredServer>;
  /** Throws 409 `mcp_server_live` where a live version uses the server and the caller may not change it. */
  assertMayChange: (tx: Transaction, caller: Caller, serverId: string, param: string) => Promise<void>;
};

type NotebookPort = {
  exist: Exist<string>;
  /** The revision of each one's newest content; held, none of them changes until the transaction ends. */
  holdRevisions: (tx: Transaction, orgId: string, ids: readonly string[]) => Promise<Record<string, number>>;
  /** Whether any of them has other documents now than in the revision that is given for it. */
  isAnyChanged: (tx: Transaction, orgId: string, revisions: Readonly<Record<string, number>>) => Promise<boolean>;
};

type SkillPort = {
  /** Those of the ids that the org has, as they are now; with `hold` until the transaction ends. */
  find: (
    tx: Transaction,
    orgId: string,
    ids: readonly string[],
    options: Hold,
  ) => Promise<ReadonlyMap<string, { name: string; hash: string }>>;
  builtInNames: () => ReadonlySet<string>;
};

export type FileScenario = Pick<
  ResponseOf<Api['scenarios']['get']>,
  'name' | 'persona' | 'goal' | 'success_criteria' | 'must_never' | 'tool_results'
>;

type ScenarioPort = {
  /**
   * Makes these the only scenarios of the deployment with `managed_by: file`. One whose name was there before keeps its
   * id; scenarios that came over the API stay untouched.
   */
  replaceFileManaged: (
    tx: Transaction,
    { deployment, declared }: { deployment: DeploymentRow; declared: readonly FileScenario[] },
  ) => Promise<void>;
  /** How many scenarios a test run of the deployment would play, whoever made them. */
  count: (tx: Transaction, deploymentId: string) => Promise<number>;
};

type DeclaredRoutine = FileObjects['routines'][number];

export type FileRoutine = Omit<DeclaredRoutine, 'name' | 'for'> & {
  name: string;
  /** The users it runs for, one routine each; empty for the org's own agent. */
  users: readonly string[];
};

/** Why a schedule is refused; `field` is the one of the entry that says so. */
type ScheduleFault = { code: ErrorCode; field: 'every' | 'cron'; message: string };

type RoutinePort = {
  /**
   * Makes these the only routines that the deployment's file has in this mode. One whose name and user were there before
   * is changed and keeps its id, conversation and counts; one that is no longer declared ends.
   */
  replaceFileManaged: (
    tx: Transaction,
    { deployment, mode, declared }: { deployment: DeploymentRow; mode: Mode; declared: readonly FileRoutine[] },
  ) => Promise<void>;
  /** Reads `every` or `cron`, whichever is there; null where it can be kept. */
  readSchedule: (routine: Pick<DeclaredRoutine, 'every' | 'cron' | 'timezone'>) => ScheduleFault | null;
};

/** An endpoint that a call made; its secret shows this once. */
export type MadeEndpoint = { endpoint_id: string; url: string; secret: string };

type WebhookPort = {
  /**
   * Makes these the only endpoints that the deployment's file has in this mode, and gives back those it had to make.
   * One whose URL was there before is changed and keeps its id, secret and deliveries; one no longer declared ends.
   */
  replaceFileManaged: (
    tx: Transaction,
    { deployment, mode, declared }: { deployment: DeploymentRow; mode: Mode; declared: FileObjects['webhooks'] },
  ) => Promise<MadeEndpoint[]>;
};

export type TestRun = ResponseOf<Api['testRuns']['get']>;

type TestRunPort = {
  /**
   * Writes a queued run of every scenario and the job that plays it. It refuses nothing: a run that cannot be paid for
   * or judged ends in error. When a run with `promoteOnPass` has passed, its owner calls `promoteAfterTests`.
   */
  start: (
    tx: Transaction,
    origin: Origin,
    run: { deployment: DeploymentRow; version: number; mode: Mode; promoteOnPass: boolean },
  ) => Promise<TestRun>;
  find: (tx: Transaction, orgId: string, runId: string) => Promise<TestRun | undefined>;
  /** The latest run of each of these versions that has one. */
  latest: (
    db: Executor,
    deploymentId: string,
    versions: readonly number[],
  ) => Promise<ReadonlyMap<number, VersionTests>>;
};
