import { Link, Outlet } from '@tanstack/react-router';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Tabs } from '../../components/layout/tabs.tsx';
import { can, useMe } from '../../data/workspace/me.ts';
import { settingsAreas } from '../../shell/navigation/settings-areas.ts';

export function SettingsPage() {
  const owner = can(useMe(), 'manage');
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs label="Settings" page="Settings">
        {settingsAreas
          .filter((area) => owner || !('owner' in area))
          .map(({ to, label }) => (
            <Link key={to} to={to} activeOptions={{ includeSearch: false }}>
              {label}
            </Link>
          ))}
      </Tabs>
      <div className="areas">
        <Outlet />
      </div>
    </>
  );
}
