import { Menu, useMantineColorScheme } from '@mantine/core';
import type { Me } from '../../../src/client/index.ts';
import { Icon } from '../../components/icon.tsx';
import { type PopupProps, PopupTarget } from '../../components/loading/loaded-on-press.tsx';
import { schemes } from '../schemes.ts';

/** User, appearance, shortcuts and sign-out. */
export default function AccountMenu({
  button,
  me,
  onShortcuts,
  onSignOut,
  ...popup
}: PopupProps & {
  readonly me: Me;
  readonly onShortcuts: () => void;
  readonly onSignOut: () => void;
}) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu {...popup} position="top-start" width={220}>
      <Menu.Target>
        <PopupTarget button={button} />
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
