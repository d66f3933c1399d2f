/** The tabs of an agent's page, each a child route of the agent. */
export const areas = [
  { to: '/agents/$agentId', label: 'Overview' },
  { to: '/agents/$agentId/analytics', label: 'Analytics' },
  { to: '/agents/$agentId/run', label: 'Run' },
  { to: '/agents/$agentId/history', label: 'Executions' },
  { to: '/agents/$agentId/batches', label: 'Batches' },
  { to: '/agents/$agentId/use', label: 'Use it' },
  { to: '/agents/$agentId/versions', label: 'Versions' },
  { to: '/agents/$agentId/settings', label: 'Settings' },
] as const;
