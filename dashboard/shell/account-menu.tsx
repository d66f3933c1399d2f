import {
  type MantineColorScheme,
  Menu,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import type { Me } from '../../src/client/index.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import classes from './navigation.module.css';

/** The account menu: user, appearance, shortcuts and sign-out. */
export function AccountMenu({
  me,
  onShortcuts,
  onSignOut,
}: {
  readonly me: Me;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <UnstyledButton className={`${classes.item} ${classes.account}`}>
          <Icon name="person" />
          <span>{me.user.name || me.user.email}</span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {me.user.email}, {me.role}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {schemes.map(({ scheme, label, icon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon name={icon} />}
            rightSection={colorScheme === scheme && <Icon name="check" size={14} />}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="keyboard" />} onClick={onShortcuts}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="leave" />} onClick={onSignOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export const schemes: readonly {
  readonly scheme: MantineColorScheme;
  readonly label: string;
  readonly icon: IconName;
}[] = [
  { scheme: 'light', label: 'Light', icon: 'light' },
  { scheme: 'dark', label: 'Dark', icon: 'dark' },
  { scheme: 'auto', label: 'System', icon: 'system' },
];
