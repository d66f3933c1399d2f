import type { IconName } from '../components/icon.tsx';

/** Where the navigation, the palette and the shortcuts lead. An area comes in here when it has a page. */
export interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Pressed after `g`. */
  readonly key: string;
}

export const places: readonly Place[] = [
  { to: '/agents', label: 'Agents', icon: 'agents', key: 'a' },
  { to: '/prompts', label: 'Prompts', icon: 'prompts', key: 'p' },
  { to: '/workflows', label: 'Workflows', icon: 'workflows', key: 'w' },
  { to: '/history', label: 'History', icon: 'history', key: 'h' },
  { to: '/keys', label: 'API keys', icon: 'keys', key: 'k' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 's' },
];
