/** A remote MCP server that is reached with the user's own sign-in. */
export type App = {
  id: string;
  name: string;
  description: string;
  url: string;
  icon_url: string | null;
  connectable: boolean;
};
