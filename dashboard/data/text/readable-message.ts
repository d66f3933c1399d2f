/** Names of fields on the pages, where they differ from the API. */
const labels: Readonly<Record<string, string>> = {
  agentName: 'Name',
  agentIds: 'Agents',
  apiKey: 'API key',
  baseURL: 'Base URL',
  actionsPerMonth: 'AI Actions per month',
  allowedOrigins: 'Allowed browser origins',
  expiresAt: 'Expires',
  requestsPerMinute: 'Calls per minute',
  requestsPerHour: 'Calls per hour',
  requestsPerDay: 'Calls per day',
  recordsDays: 'Keep records (days)',
  bodiesDays: 'Keep bodies (days)',
  maxTokens: 'Max tokens',
  topP: 'Top P',
  timeZone: 'Time zone',
  q: 'Search',
  schema: 'Output schema',
  url: 'URL',
};

/** Fields whose members the user names, with their labels. */
const maps: Readonly<Record<string, string>> = {
  variableSchemas: 'Schemas of variables',
  defaultVariableValues: 'Variables',
  headers: 'Headers',
  query: 'Query parameters',
  bodyExtra: 'Fields of the body',
};

/** The server's message with the label of the field instead of the parameter: people do not see parameters. */
export function readableMessage(message: string): string {
  return message.replace(/\b(?:Field|Parameter) "([^"]+)"/g, (_, path: string) => labelOf(path));
}

function labelOf(path: string): string {
  const [, map = '', member] = /^(\w+)\.(.+)$/s.exec(path) ?? [];
  if (member !== undefined && Object.hasOwn(maps, map)) return `“${member}” in “${maps[map]}”`;
  const name =
    path
      .replace(/\[\d+\]/g, '')
      .split('.')
      .at(-1) ?? path;
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return `“${labels[name] ?? words.charAt(0).toUpperCase() + words.slice(1)}”`;
}
