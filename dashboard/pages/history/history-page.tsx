import { Outlet } from '@tanstack/react-router';
import { PageHeader } from '../../components/page-header.tsx';
import { History } from './history.tsx';

export function HistoryPage() {
  return (
    <>
      <PageHeader
        title="Executions"
        description="Executions of all agents that you can access, with input, output, latency and cost."
      />
      <History />
      <Outlet />
    </>
  );
}
