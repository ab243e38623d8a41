/**
 * For one machine that also runs the server: little memory at rest, many short transactions, and every commit on disk
 * before it is answered.
 */
export function settingsFor(socketFolder: string): Record<string, string> {
  return {
    listen_addresses: '',
    port: '5432',
    unix_socket_directories: `"${socketFolder}"`,
    unix_socket_permissions: '0700',
    max_connections: '100',

    shared_buffers: '64MB',
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    effective_cache_size: '512MB',
    random_page_cost: '1.1',
    huge_pages: 'off',
    jit: 'off',
    // Helper processes for reading would cost more memory than they save time at this size.
    io_method: 'sync',

    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    // Nobody replicates an embedded server.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_replication_slots: '0',
    max_logical_replication_workers: '0',
    checkpoint_timeout: '10min',
    max_wal_size: '512MB',
    min_wal_size: '64MB',

    // The sessions of a killed server must not go on with what nobody waits for, nor keep its locks.
    client_connection_check_interval: '2s',

    // Errors of statements belong to the server that sent them, and their text would hold what users wrote.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
}
