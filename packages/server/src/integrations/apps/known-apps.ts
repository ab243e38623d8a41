import type { SignInFacts } from '../app-sign-in/sign-in-server.ts';
import type { ApiKeyPlace, App, AppSignInData } from './app.ts';

/**
 * The built-in apps: remote MCP servers with OAuth or API keys. Everything about them is data, which an operator's file
 * may override.
 */
export const knownApps: readonly App[] = [
  app('airtable', 'Airtable', 'Bases, tables and records.', 'https://mcp.airtable.com/mcp'),
  app('amplitude', 'Amplitude', 'Product analytics: charts, cohorts and experiments.', 'https://mcp.amplitude.com/mcp'),
  app('asana', 'Asana', 'Tasks, projects and goals.', 'https://mcp.asana.com/v2/mcp', {
    registered: {
      at: 'https://app.asana.com/0/my-apps',
      note: 'Make an app of the type “MCP app”; only its tokens are taken by the MCP server.',
    },
  }),
  app('atlassian', 'Atlassian', 'Jira issues and Confluence pages.', 'https://mcp.atlassian.com/v1/mcp'),
  app('attio', 'Attio', 'Customer records, lists and notes.', 'https://mcp.attio.com/mcp'),
  app('canva', 'Canva', 'Designs: find, make and export them.', 'https://mcp.canva.com/mcp'),
  app('cloudflare', 'Cloudflare', 'Zones, Workers and settings of an account.', 'https://mcp.cloudflare.com/mcp'),
  app('context7', 'Context7', 'Documentation of libraries, by version.', 'https://mcp.context7.com/mcp', {
    signsIn: false,
    key: { header: 'CONTEXT7_API_KEY', prefix: '', note: 'Make one at https://context7.com/dashboard.' },
  }),
  app('exa', 'Exa', 'Search of the web.', 'https://mcp.exa.ai/mcp', {
    signsIn: false,
    key: { query: 'exaApiKey', note: 'Make one at https://dashboard.exa.ai/api-keys.' },
  }),
  app('figma', 'Figma', 'Design files and components.', 'https://mcp.figma.com/mcp', {
    registered: {
      at: 'https://www.figma.com/developers/apps',
      note: 'Figma opens its MCP server to clients that it has approved.',
    },
  }),
  app('github', 'GitHub', 'Repositories, issues and pull requests.', 'https://api.githubcopilot.com/mcp/', {
    registered: {
      at: 'https://github.com/settings/developers',
      note: 'An OAuth app gives tokens without an end; a GitHub App gives tokens of eight hours that are renewed.',
    },
    facts: {
      // Its metadata lacks the userinfo endpoint.
      endpoints: {
        issuer: 'https://github.com/login/oauth',
        authorization_endpoint: 'https://github.com/login/oauth/authorize',
        token_endpoint: 'https://github.com/login/oauth/access_token',
        userinfo_endpoint: 'https://api.github.com/user',
      },
      scope: 'repo read:org read:user user:email',
      auth_method: 'client_secret_post',
    },
    key: bearer('A personal access token: make one at https://github.com/settings/personal-access-tokens.'),
  }),
  google('google-calendar', 'Google Calendar', 'Calendars and events.', 'https://calendarmcp.googleapis.com/mcp/v1', [
    'calendar.calendarlist.readonly',
    'calendar.events.freebusy',
    'calendar.events',
  ]),
  google('google-drive', 'Google Drive', 'Files and folders.', 'https://drivemcp.googleapis.com/mcp/v1', [
    'drive.readonly',
    'drive.file',
  ]),
  google('google-gmail', 'Gmail', 'Mail: search, read and draft.', 'https://gmailmcp.googleapis.com/mcp/v1', [
    'gmail.readonly',
    'gmail.compose',
  ]),
  app('hubspot', 'HubSpot', 'Contacts, companies, deals and tickets.', 'https://mcp.hubspot.com', {
    registered: {
      at: 'https://app.hubspot.com/l/developers',
      note: 'Make an “MCP auth app” under Development; a private app’s token is not taken.',
    },
  }),
  app('hugging-face', 'Hugging Face', 'Models, datasets and papers.', 'https://huggingface.co/mcp', {
    key: bearer('A token: make one at https://huggingface.co/settings/tokens.'),
  }),
  app('intercom', 'Intercom', 'Conversations and contacts of customer support.', 'https://mcp.intercom.com/mcp'),
  app('linear', 'Linear', 'Issues, projects and cycles.', 'https://mcp.linear.app/mcp', {
    key: bearer('Make one at https://linear.app/settings/account/security.'),
  }),
  app(
    'microsoft-power-bi',
    'Power BI',
    'Semantic models and reports.',
    'https://api.fabric.microsoft.com/v1/mcp/powerbi',
    {
      registered: {
        at: 'https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps',
        note: 'Register an app of the platform “Web” for the accounts that shall sign in, and give it the delegated right Dataset.Read.All of Power BI.',
      },
      facts: {
        endpoints: microsoftEndpoints('organizations'),
        scope: 'https://analysis.windows.net/powerbi/api/.default offline_access openid profile email',
        // Entra refuses requests with both a resource and a scope.
        no_resource: true,
        auth_method: 'client_secret_post',
      },
    },
  ),
  app('mixpanel', 'Mixpanel', 'Product analytics: events, funnels and reports.', 'https://mcp.mixpanel.com/mcp'),
  app('monday', 'monday.com', 'Boards, items and updates.', 'https://mcp.monday.com/mcp'),
  app('neon', 'Neon', 'Postgres projects, branches and queries.', 'https://mcp.neon.tech/mcp', {
    key: bearer('Make one at https://console.neon.tech/app/settings/api-keys.'),
  }),
  app('notion', 'Notion', 'Pages, databases and comments.', 'https://mcp.notion.com/mcp'),
  app('paypal', 'PayPal', 'Invoices, payments and disputes.', 'https://mcp.paypal.com/mcp'),
  app('sentry', 'Sentry', 'Errors, issues and releases.', 'https://mcp.sentry.dev/mcp'),
  app('slack', 'Slack', 'Messages and channels.', 'https://mcp.slack.com/mcp', {
    registered: {
      at: 'https://api.slack.com/apps',
      note: 'Add the user scopes that are asked for. Slack lets in apps of its marketplace and apps internal to one workspace.',
    },
    facts: {
      endpoints: {
        issuer: 'https://slack.com',
        authorization_endpoint: 'https://slack.com/oauth/v2_user/authorize',
        token_endpoint: 'https://slack.com/api/oauth.v2.user.access',
      },
      scope:
        'search:read.public search:read.private search:read.mpim search:read.im search:read.files search:read.users chat:write channels:history groups:history mpim:history im:history canvases:read canvases:write users:read users:read.email',
      no_resource: true,
      auth_method: 'client_secret_post',
      tokens_in: 'authed_user',
      any_token_type: true,
    },
  }),
  app('stripe', 'Stripe', 'Payments, customers and subscriptions.', 'https://mcp.stripe.com', {
    key: bearer('A restricted key: make one at https://dashboard.stripe.com/apikeys.'),
  }),
  app('supabase', 'Supabase', 'Projects, databases and functions.', 'https://mcp.supabase.com/mcp', {
    key: bearer('A personal access token: make one at https://supabase.com/dashboard/account/tokens.'),
  }),
  app('tavily', 'Tavily', 'Search of the web.', 'https://mcp.tavily.com/mcp/', {
    signsIn: false,
    key: { query: 'tavilyApiKey', note: 'Make one at https://app.tavily.com.' },
  }),
  app('vercel', 'Vercel', 'Projects, deployments and logs.', 'https://mcp.vercel.com'),
  app('webflow', 'Webflow', 'Sites, pages and their content.', 'https://mcp.webflow.com/mcp'),
];

type Needs = {
  /** The app accepts only clients that were registered by hand, at this address. */
  registered?: { at: string; note: string };
  facts?: SignInFacts;
  signsIn?: false;
  key?: ApiKeyPlace;
};

function app(id: string, name: string, description: string, url: string, needs: Needs = {}): App {
  const { registered, facts = {}, signsIn = true, key = null } = needs;
  const signIn: AppSignInData = {
    facts,
    needs_client: registered !== undefined,
    register_at: registered?.at ?? null,
    note: registered?.note ?? null,
    client: null,
  };
  return {
    id,
    name,
    description,
    url,
    icon_url: null,
    connectable: true,
    sign_in: signsIn ? signIn : null,
    api_key: key,
  };
}

/** Google returns a refresh token only with offline access and a consent prompt. */
function google(id: string, name: string, description: string, url: string, rights: readonly string[]): App {
  return app(id, name, description, url, {
    registered: {
      at: 'https://console.cloud.google.com/auth/clients',
      note: 'Make a client of the type “Web application” in a project with the product’s API and its MCP API switched on. One client serves all Google apps.',
    },
    facts: {
      endpoints: {
        issuer: 'https://accounts.google.com',
        authorization_endpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
        token_endpoint: 'https://oauth2.googleapis.com/token',
        revocation_endpoint: 'https://oauth2.googleapis.com/revoke',
        userinfo_endpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
      },
      scope: ['openid', 'email', ...rights.map((right) => `https://www.googleapis.com/auth/${right}`)].join(' '),
      authorize_with: { access_type: 'offline', prompt: 'consent' },
      no_resource: true,
      auth_method: 'client_secret_post',
    },
  });
}

function microsoftEndpoints(tenant: string) {
  const base = `https://login.microsoftonline.com/${tenant}/oauth2/v2.0`;
  return {
    // Entra reports the tenant of the user, which is unknown before the sign-in; this is the issuer of the client.
    issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/token`,
    userinfo_endpoint: 'https://graph.microsoft.com/oidc/userinfo',
  };
}

function bearer(note: string): ApiKeyPlace {
  return { header: 'authorization', prefix: 'Bearer ', note };
}
