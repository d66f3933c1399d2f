import type { MantineColorScheme } from '@mantine/core';
import type { IconName } from '../components/icon.tsx';

export const schemes: readonly {
  readonly scheme: MantineColorScheme;
  readonly label: string;
  readonly icon: IconName;
}[] = [
  { scheme: 'light', label: 'Light', icon: 'light' },
  { scheme: 'dark', label: 'Dark', icon: 'dark' },
  { scheme: 'auto', label: 'System', icon: 'system' },
];
