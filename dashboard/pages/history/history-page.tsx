import { Outlet } from '@tanstack/react-router';
import { PageHeader } from '../../components/page-header.tsx';
import { History } from './history.tsx';

export function HistoryPage() {
  return (
    <>
      <PageHeader
        title="History"
        description="Every run of every agent you see: what went in, what came out, what it took."
      />
      <History />
      <Outlet />
    </>
  );
}
