import { Link, Outlet } from '@tanstack/react-router';
import { PageHeader } from '../../components/page-header.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { can, useMe } from '../../data/workspace/me.ts';
import classes from './settings.module.css';

const areas = [
  { to: '/settings/workspace', label: 'Workspace' },
  { to: '/settings/members', label: 'Members' },
  { to: '/settings/providers', label: 'Providers' },
  { to: '/settings/retention', label: 'Retention' },
  { to: '/settings/audit', label: 'Audit log', owner: true },
  { to: '/settings/account', label: 'Account' },
] as const;

export function SettingsPage() {
  const owner = can(useMe(), 'manage');
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs label="Settings">
        {areas
          .filter((area) => owner || !('owner' in area))
          .map(({ to, label }) => (
            <Link key={to} to={to} activeOptions={{ includeSearch: false }}>
              {label}
            </Link>
          ))}
      </Tabs>
      <div className={classes.areas}>
        <Outlet />
      </div>
    </>
  );
}
