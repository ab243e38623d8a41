import type { ApplyPorts } from '../../domains/apply/ports.ts';
import { filesExist } from '../../domains/files/api.ts';
import {
  assertMayChange,
  findByAddress,
  findById,
  registerServer,
  takenSlugs,
  updateServer,
} from '../../domains/mcp-servers/api.ts';
import { holdRevisions, isAnyChanged, notebooksExist } from '../../domains/notebooks/api.ts';
import { readSchedule, replaceFileManaged } from '../../domains/routines/api.ts';
import { scenarioPort } from '../../domains/scenarios/api.ts';
import { storedNames } from '../../domains/secrets/api.ts';
import { builtInSkills, findSkills } from '../../domains/skills/api.ts';
import { testRunPort } from '../../domains/test-runs/api.ts';
import { timezoneOf } from '../../domains/users/api.ts';
import { webhookPort } from '../../domains/webhooks/api.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import type { Kernel } from '../kernel.ts';

/** What applying a file asks of the domains around it, each filled in by the domain itself. */
export function assembleApplyPorts(
  parts: Pick<Kernel, 'vault' | 'models' | 'refuseAddress' | 'faultOfSchema'> & {
    jobs: JobSender;
    apps: Pick<Kernel['apps'], 'catalogue'>;
  },
): ApplyPorts {
  const { vault, jobs, models, apps, refuseAddress, faultOfSchema } = parts;
  const builtInNames = new Set(builtInSkills().map(({ name }) => name));
  return {
    mcpServers: {
      findByAddress,
      findById,
      takenSlugs,
      register: registerServer,
      update: updateServer,
      assertMayChange,
    },
    skills: { find: findSkills, builtInNames: () => builtInNames },
    notebooks: { exist: notebooksExist, holdRevisions, isAnyChanged },
    files: { exist: filesExist },
    secrets: { stored: storedNames },
    scenarios: scenarioPort,
    routines: {
      replaceFileManaged: (tx, wanted) => replaceFileManaged(tx, { timezoneOfUser: timezoneOf }, wanted),
      readSchedule,
    },
    webhooks: webhookPort({ vault }),
    testRuns: testRunPort({ jobs }),
    catalogue: models.catalogue,
    apps: { has: (id) => apps.catalogue.find(id) !== undefined },
    refuseAddress,
    faultOfSchema,
  };
}
