import type { IconName } from '../../components/icon.tsx';

/** Items of the navigation, the command palette and the `g` shortcuts. */
export interface NavigationItem {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** The key pressed after `g`. */
  readonly key: string;
}

export const navigationItems: readonly NavigationItem[] = [
  { to: '/', label: 'Overview', icon: 'overview', key: 'o' },
  { to: '/analytics', label: 'Analytics', icon: 'analytics', key: 'n' },
  { to: '/agents', label: 'Agents', icon: 'agents', key: 'a' },
  { to: '/prompts', label: 'Prompts', icon: 'prompts', key: 'p' },
  { to: '/workflows', label: 'Workflows', icon: 'workflows', key: 'w' },
  { to: '/history', label: 'Executions', icon: 'history', key: 'h' },
  { to: '/keys', label: 'API keys', icon: 'keys', key: 'k' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 's' },
];
