import { z } from 'zod';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';

const app = z.object({
  object: z.literal('app'),
  id: z.string().meta({ description: 'What `apps` of a deployment and `app` of a connection take.' }),
  name: z.string(),
  description: z.string(),
  icon_url: z.string().nullable(),
  connectable: z.boolean(),
});

export const apps = {
  list: route({
    method: 'GET',
    path: '/v1/apps',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the apps that users may connect.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(app),
    errors: [],
    command: 'apps list',
  }),
};
