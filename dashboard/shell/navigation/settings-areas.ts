/** The settings pages, for their tabs and the command palette. */
export const settingsAreas = [
  { to: '/settings/workspace', label: 'Workspace' },
  { to: '/settings/members', label: 'Members' },
  { to: '/settings/providers', label: 'Providers' },
  { to: '/settings/budgets', label: 'Budgets', owner: true },
  { to: '/settings/tool-servers', label: 'Tool servers', owner: true },
  { to: '/settings/endpoints', label: 'Endpoints', owner: true },
  { to: '/settings/alerts', label: 'Alerts', owner: true },
  { to: '/settings/retention', label: 'Retention' },
  { to: '/settings/audit', label: 'Audit log', owner: true },
  { to: '/settings/account', label: 'Account' },
] as const;
