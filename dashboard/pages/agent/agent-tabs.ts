/** The tabs of an agent's page. An area comes in here when it has a route below the agent's. */
export const areas = [
  { to: '/agents/$agentId', label: 'Overview' },
  { to: '/agents/$agentId/run', label: 'Run' },
  { to: '/agents/$agentId/history', label: 'History' },
  { to: '/agents/$agentId/access', label: 'API access' },
  { to: '/agents/$agentId/versions', label: 'Versions' },
  { to: '/agents/$agentId/settings', label: 'Settings' },
] as const;
