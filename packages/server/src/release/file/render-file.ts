import type { DeploymentDependencies } from '../../agents/deployments/index.ts';
import { findById } from '../../agents/tool-servers/index.ts';
import { manifestToFile } from './manifest-to-file.ts';

/** A version as the YAML of its deployment file, with its servers as they are registered now. */
export const renderFile: DeploymentDependencies['renderFile'] = async (db, deployment, { manifest, file_objects }) => {
  const ids = manifest.mcp_servers.map(({ id }) => id);
  const found = ids.length === 0 ? [] : await findById(db, deployment.org_id, ids, { hold: false });
  const servers = new Map(found.map((server) => [server.id, server]));
  const { renderYaml } = await import('./render-yaml.ts');
  return renderYaml(manifestToFile(deployment.slug, { manifest, fileObjects: file_objects }, servers));
};
