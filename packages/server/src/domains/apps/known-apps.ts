import type { App } from './app.ts';

/**
 * The apps that come with the service: remote MCP servers whose users sign in by OAuth. One that lets no stranger register
 * itself is listed as not connectable; an operator's file may say otherwise of any of them.
 */
export const knownApps: readonly App[] = [
  app('airtable', 'Airtable', 'Bases, tables and records.', 'https://mcp.airtable.com/mcp'),
  app('amplitude', 'Amplitude', 'Product analytics: charts, cohorts and experiments.', 'https://mcp.amplitude.com/mcp'),
  app('asana', 'Asana', 'Tasks, projects and goals.', 'https://mcp.asana.com/v2/mcp', { connectable: false }),
  app('atlassian', 'Atlassian', 'Jira issues and Confluence pages.', 'https://mcp.atlassian.com/v1/mcp'),
  app('attio', 'Attio', 'Customer records, lists and notes.', 'https://mcp.attio.com/mcp'),
  app('canva', 'Canva', 'Designs: find, make and export them.', 'https://mcp.canva.com/mcp'),
  app('cloudflare', 'Cloudflare', 'Zones, Workers and settings of an account.', 'https://mcp.cloudflare.com/mcp'),
  app('figma', 'Figma', 'Design files and components.', 'https://mcp.figma.com/mcp', { connectable: false }),
  app('github', 'GitHub', 'Repositories, issues and pull requests.', 'https://api.githubcopilot.com/mcp/', {
    connectable: false,
  }),
  app('hugging-face', 'Hugging Face', 'Models, datasets and papers.', 'https://huggingface.co/mcp'),
  app('intercom', 'Intercom', 'Conversations and contacts of customer support.', 'https://mcp.intercom.com/mcp'),
  app('linear', 'Linear', 'Issues, projects and cycles.', 'https://mcp.linear.app/mcp'),
  app('mixpanel', 'Mixpanel', 'Product analytics: events, funnels and reports.', 'https://mcp.mixpanel.com/mcp'),
  app('monday', 'monday.com', 'Boards, items and updates.', 'https://mcp.monday.com/mcp'),
  app('neon', 'Neon', 'Postgres projects, branches and queries.', 'https://mcp.neon.tech/mcp'),
  app('notion', 'Notion', 'Pages, databases and comments.', 'https://mcp.notion.com/mcp'),
  app('paypal', 'PayPal', 'Invoices, payments and disputes.', 'https://mcp.paypal.com/mcp'),
  app('sentry', 'Sentry', 'Errors, issues and releases.', 'https://mcp.sentry.dev/mcp'),
  app('slack', 'Slack', 'Messages and channels.', 'https://mcp.slack.com/mcp', { connectable: false }),
  app('stripe', 'Stripe', 'Payments, customers and subscriptions.', 'https://mcp.stripe.com'),
  app('supabase', 'Supabase', 'Projects, databases and functions.', 'https://mcp.supabase.com/mcp'),
  app('vercel', 'Vercel', 'Projects, deployments and logs.', 'https://mcp.vercel.com'),
  app('webflow', 'Webflow', 'Sites, pages and their content.', 'https://mcp.webflow.com/mcp'),
];

function app(
  id: string,
  name: string,
  description: string,
  url: string,
  { connectable = true }: { connectable?: boolean } = {},
): App {
  return { id, name, description, url, icon_url: null, connectable };
}
