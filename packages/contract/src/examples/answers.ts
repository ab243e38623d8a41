/** What a server answered to the first call of each operation; kept by `VESTRA_WRITE_EXAMPLES=1` and contract-examples.test.ts. */
export const answers: Readonly<Record<string, unknown>> = {
  "health.get": {
    "object": "health",
    "status": "ok",
    "version": "0.2.0",
    "checks": {
      "database": {
        "status": "ok",
        "message": null
      },
      "migrations": {
        "status": "ok",
        "message": null
      },
      "server": {
        "status": "ok",
        "message": null
      }
    }
  },
  "me.get": {
    "object": "me",
    "org": {
      "id": "org_01kb5hq8e700000000000001",
      "name": "My company",
      "status": "active"
    },
    "mode": "test",
    "key": {
      "id": "key_01kb5hq8e700000000000001",
      "name": "First test key",
      "last4": "a1b2"
    },
    "member": null
  },
  "models.list": {
    "data": [
      {
        "object": "model",
        "id": "offline",
        "provider": "offline",
        "name": "Offline stand-in",
        "default": true,
        "context_tokens": 32000,
        "max_output_tokens": 4096,
        "takes": [
          "text"
        ],
        "reasons": false,
        "price": {
          "input_per_mtok": 0.1,
          "output_per_mtok": 0.4,
          "cache_read_per_mtok": 0.1,
          "cache_write_per_mtok": 0.1,
          "cache_write_long_per_mtok": 0.1,
          "above": null
        },
        "priced": true,
        "retires_on": null,
        "replacement": null,
        "available": true,
        "unavailable_reason": null
      }
    ],
    "next_cursor": null,
    "notes": []
  },
  "orgs.get": {
    "object": "org",
    "id": "org_01kb5hq8e700000000000001",
    "name": "My company",
    "status": "active",
    "mode": "test",
    "allowed_return_urls": [],
    "allowed_embed_origins": [],
    "default_deployment": null,
    "require_user": false,
    "memory_panel": false,
    "memory_mode": "vestra",
    "memory_endpoint": null,
    "otlp_endpoint": null,
    "otlp_headers_secret": null,
    "otlp_content": false,
    "model_fallbacks": {},
    "openings": {},
    "balance_usd": 100,
    "caps": {
      "org_daily_usd": 100,
      "user_daily_usd": 10,
      "max_org_daily_usd": 1000,
      "org_monthly_usd": null,
      "user_monthly_usd": null
    },
    "usage_alerts": {
      "thresholds": [
        50,
        80,
        95
      ]
    },
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "orgs.update": {
    "object": "org",
    "id": "org_01kb5hq8e700000000000001",
    "name": "My company",
    "status": "active",
    "mode": "test",
    "allowed_return_urls": [],
    "allowed_embed_origins": [
      "https://shop.example.com"
    ],
    "default_deployment": null,
    "require_user": false,
    "memory_panel": true,
    "memory_mode": "vestra",
    "memory_endpoint": null,
    "otlp_endpoint": null,
    "otlp_headers_secret": null,
    "otlp_content": false,
    "model_fallbacks": {},
    "openings": {},
    "balance_usd": 100,
    "caps": {
      "org_daily_usd": 100,
      "user_daily_usd": 10,
      "max_org_daily_usd": 1000,
      "org_monthly_usd": null,
      "user_monthly_usd": null
    },
    "usage_alerts": {
      "thresholds": [
        50,
        80,
        95
      ]
    },
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "orgs.rollMemorySecret": {
    "object": "memory_endpoint",
    "url": "https://shop.example.com/memory",
    "secret": "whsec_…"
  },
  "limits.get": {
    "object": "limits",
    "caps": {
      "org_daily_usd": 100,
      "user_daily_usd": 10,
      "max_org_daily_usd": 1000,
      "org_monthly_usd": null,
      "user_monthly_usd": null
    },
    "usage_alerts": {
      "thresholds": [
        50,
        80,
        95
      ]
    },
    "rate_limits": {
      "requests_per_minute": 1000000,
      "burst": 1000000
    }
  },
  "limits.update": {
    "object": "limits",
    "caps": {
      "org_daily_usd": 100,
      "user_daily_usd": 5,
      "max_org_daily_usd": 1000,
      "org_monthly_usd": null,
      "user_monthly_usd": null
    },
    "usage_alerts": {
      "thresholds": [
        50,
        90
      ]
    },
    "rate_limits": {
      "requests_per_minute": 1000000,
      "burst": 1000000
    }
  },
  "keys.list": {
    "data": [
      {
        "object": "key",
        "id": "key_01kb5hq8e700000000000001",
        "name": "First test key",
        "mode": "test",
        "scopes": [
          "all"
        ],
        "last4": "a1b2",
        "created_at": "2026-11-16T09:30:00.000Z",
        "last_used_at": null,
        "expires_at": null
      }
    ],
    "next_cursor": null
  },
  "keys.create": {
    "object": "key",
    "id": "key_01kb5hq8e700000000000002",
    "name": "Warehouse",
    "mode": "test",
    "scopes": [
      "runtime"
    ],
    "last4": "a1b2",
    "created_at": "2026-11-16T09:30:00.000Z",
    "last_used_at": null,
    "expires_at": null,
    "key": "vk_test_…"
  },
  "events.list": {
    "data": [
      {
        "id": "evt_01kb5hq8e700000000000001",
        "object": "event",
        "type": "key.created",
        "created_at": "2026-11-16T09:30:00.000Z",
        "mode": "test",
        "org_id": "org_01kb5hq8e700000000000001",
        "data": {
          "id": "key_01kb5hq8e700000000000002",
          "mode": "test",
          "name": "Warehouse",
          "last4": "a1b2",
          "object": "key",
          "scopes": [
            "runtime"
          ],
          "created_at": "2026-11-16T09:30:00.000Z",
          "expires_at": null,
          "last_used_at": null
        }
      }
    ],
    "next_cursor": "WyIyMDI2…"
  },
  "events.get": {
    "id": "evt_01kb5hq8e700000000000001",
    "object": "event",
    "type": "key.created",
    "created_at": "2026-11-16T09:30:00.000Z",
    "mode": "test",
    "org_id": "org_01kb5hq8e700000000000001",
    "data": {
      "id": "key_01kb5hq8e700000000000002",
      "mode": "test",
      "name": "Warehouse",
      "last4": "a1b2",
      "object": "key",
      "scopes": [
        "runtime"
      ],
      "created_at": "2026-11-16T09:30:00.000Z",
      "expires_at": null,
      "last_used_at": null
    }
  },
  "keys.roll": {
    "object": "key",
    "id": "key_01kb5hq8e700000000000002",
    "name": "Warehouse",
    "mode": "test",
    "scopes": [
      "runtime"
    ],
    "last4": "a1b2",
    "created_at": "2026-11-16T09:30:00.000Z",
    "last_used_at": null,
    "expires_at": null,
    "key": "vk_test_…",
    "previous_expires_at": "2026-11-16T09:30:00.000Z"
  },
  "keys.revoke": {
    "object": "key",
    "id": "key_01kb5hq8e700000000000002",
    "deleted": true
  },
  "apps.list": {
    "data": [
      {
        "object": "app",
        "id": "airtable",
        "name": "Airtable",
        "description": "Bases, tables and records.",
        "icon_url": null,
        "connectable": true,
        "sign_in": {
          "client": "automatic",
          "register_at": null,
          "redirect_uri": "https://vestra.example.com/v1/connections/callback",
          "note": null
        },
        "api_key": null
      }
    ],
    "next_cursor": "WyIyMDI2…"
  },
  "connections.list": {
    "data": [],
    "next_cursor": null
  },
  "members.list": {
    "data": [
      {
        "object": "member",
        "id": "mbr_01kb5hq8e700000000000001",
        "email": "owner@vestra.local",
        "name": "Owner",
        "role": "owner",
        "status": "active",
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "members.invite": {
    "object": "member",
    "id": "mbr_01kb5hq8e700000000000002",
    "email": "ada@shop.example.com",
    "name": null,
    "role": "developer",
    "status": "invited",
    "created_at": "2026-11-16T09:30:00.000Z",
    "invite_url": "https://vestra.example.com/console/accept#token=token_1",
    "invite_expires_at": "2026-11-16T09:30:00.000Z"
  },
  "members.accept": {
    "object": "member",
    "id": "mbr_01kb5hq8e700000000000002",
    "email": "ada@shop.example.com",
    "name": "Ada Lovelace",
    "role": "developer",
    "status": "active",
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "members.update": {
    "object": "member",
    "id": "mbr_01kb5hq8e700000000000002",
    "email": "ada@shop.example.com",
    "name": "Ada Lovelace",
    "role": "admin",
    "status": "active",
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "members.resetPassword": {
    "object": "password_reset",
    "member_id": "mbr_01kb5hq8e700000000000002",
    "email": "ada@shop.example.com",
    "reset_url": "https://vestra.example.com/console/reset#token=token_2",
    "reset_expires_at": "2026-11-16T09:30:00.000Z"
  },
  "consoleAccess.resetPassword": {
    "object": "password_reset",
    "email": "ada@shop.example.com"
  },
  "consoleAccess.login": {
    "object": "console_session",
    "member": {
      "object": "member",
      "id": "mbr_01kb5hq8e700000000000002",
      "email": "ada@shop.example.com",
      "name": "Ada Lovelace",
      "role": "admin",
      "status": "active",
      "created_at": "2026-11-16T09:30:00.000Z"
    },
    "org": {
      "id": "org_01kb5hq8e700000000000001",
      "name": "My company",
      "status": "active"
    },
    "orgs": [
      {
        "id": "org_01kb5hq8e700000000000001",
        "name": "My company",
        "status": "active",
        "role": "admin"
      }
    ],
    "mode": "test",
    "may": [
      "deployments.list",
      "deployments.create",
      "deployments.get",
      "deployments.put",
      "deployments.update",
      "deployments.listVersions",
      "deployments.getVersion",
      "deployments.promote",
      "deployments.rollback",
      "deployments.archive",
      "deployments.unarchive",
      "deployments.delete",
      "deployments.interview",
      "scenarios.list",
      "scenarios.create",
      "scenarios.generate",
      "scenarios.get",
      "scenarios.update",
      "scenarios.delete",
      "testRuns.create",
      "testRuns.list",
      "testRuns.get",
      "testRuns.events",
      "testRuns.cancel",
      "notebooks.list",
      "notebooks.create",
      "notebooks.get",
      "notebooks.update",
      "notebooks.delete",
      "notebooks.search",
      "notebooks.listDocuments",
      "notebooks.createDocument",
      "notebooks.getDocument",
      "notebooks.deleteDocument",
      "skills.list",
      "skills.create",
      "skills.get",
      "skills.replace",
      "skills.delete",
      "skills.versions",
      "mcpServers.list",
      "mcpServers.create",
      "mcpServers.get",
      "mcpServers.update",
      "mcpServers.delete",
      "mcpServers.check",
      "secrets.list",
      "secrets.put",
      "secrets.delete",
      "conversations.list",
      "conversations.create",
      "conversations.get",
      "conversations.send",
      "conversations.messages",
      "conversations.events",
      "conversations.trace",
      "conversations.stop",
      "feedback.rate",
      "feedback.ofConversation",
      "feedback.list",
      "feedback.counts",
      "interactions.list",
      "interactions.get",
      "interactions.answer",
      "interactions.cancel",
      "functions.list",
      "functions.take",
      "functions.renew",
      "functions.release",
      "functions.endpoint",
      "functions.setEndpoint",
      "functions.deleteEndpoint",
      "functions.rollEndpointSecret",
      "tasks.list",
      "tasks.get",
      "tasks.delete",
      "tasks.trace",
      "tasks.data",
      "batches.list",
      "batches.create",
      "batches.get",
      "batches.items",
      "batches.cancel",
      "routines.list",
      "routines.create",
      "routines.get",
      "routines.update",
      "routines.delete",
      "routines.run",
      "routines.trigger",
      "users.list",
      "users.create",
      "users.get",
      "users.update",
      "users.delete",
      "users.warm",
      "users.screenshot",
      "browser.fetch",
      "browser.cookies",
      "browser.watch",
      "memory.list",
      "memory.create",
      "memory.search",
      "memory.delete",
      "memory.deleteAll",
      "files.list",
      "files.create",
      "files.get",
      "files.delete",
      "sessions.create",
      "sessions.get",
      "sessions.delete",
      "sessions.framePolicy",
      "webhooks.list",
      "webhooks.create",
      "webhooks.get",
      "webhooks.update",
      "webhooks.delete",
      "webhooks.rollSecret",
      "webhooks.test",
      "webhooks.deliveries",
      "webhooks.retry",
      "events.list",
      "events.get",
      "apps.list",
      "apps.getClient",
      "apps.putClient",
      "apps.deleteClient",
      "connections.list",
      "connections.create",
      "connections.callback",
      "connections.delete",
      "protocols.mcp",
      "protocols.a2a",
      "protocols.agentCard",
      "openai.chat",
      "openai.respond",
      "openai.response",
      "openai.cancel",
      "openai.createConversation",
      "openai.conversation",
      "openai.models",
      "openai.model",
      "agUi.run",
      "me.get",
      "orgs.get",
      "orgs.update",
      "orgs.rollMemorySecret",
      "keys.list",
      "keys.create",
      "keys.roll",
      "keys.revoke",
      "limits.get",
      "limits.update",
      "usage.report",
      "usage.lineItems",
      "auditLog.list",
      "models.list",
      "members.list",
      "members.invite",
      "members.accept",
      "members.update",
      "members.remove",
      "members.resetPassword",
      "consoleAccess.login",
      "consoleAccess.resetPassword",
      "consoleAccess.logout",
      "consoleAccess.session",
      "consoleAccount.show",
      "consoleAccount.update",
      "consoleAccount.changePassword",
      "consoleAccount.signIns",
      "consoleAccount.endSignIn",
      "consoleAccount.endOtherSignIns",
      "consoleSignIn.begin",
      "consoleSignIn.callback",
      "consoleSignIn.link",
      "consoleSignIn.unlink",
      "passkeys.list",
      "passkeys.beginRegistration",
      "passkeys.register",
      "passkeys.update",
      "passkeys.remove",
      "passkeys.beginSignIn",
      "passkeys.signIn",
      "identityProvider.get",
      "health.get"
    ],
    "csrf_token": "csrf_…",
    "expires_at": "2026-11-16T09:30:00.000Z"
  },
  "consoleAccess.session": {
    "object": "console_session",
    "member": {
      "object": "member",
      "id": "mbr_01kb5hq8e700000000000002",
      "email": "ada@shop.example.com",
      "name": "Ada Lovelace",
      "role": "admin",
      "status": "active",
      "created_at": "2026-11-16T09:30:00.000Z"
    },
    "org": {
      "id": "org_01kb5hq8e700000000000001",
      "name": "My company",
      "status": "active"
    },
    "orgs": [
      {
        "id": "org_01kb5hq8e700000000000001",
        "name": "My company",
        "status": "active",
        "role": "admin"
      }
    ],
    "mode": "test",
    "may": [
      "deployments.list",
      "deployments.create",
      "deployments.get",
      "deployments.put",
      "deployments.update",
      "deployments.listVersions",
      "deployments.getVersion",
      "deployments.promote",
      "deployments.rollback",
      "deployments.archive",
      "deployments.unarchive",
      "deployments.delete",
      "deployments.interview",
      "scenarios.list",
      "scenarios.create",
      "scenarios.generate",
      "scenarios.get",
      "scenarios.update",
      "scenarios.delete",
      "testRuns.create",
      "testRuns.list",
      "testRuns.get",
      "testRuns.events",
      "testRuns.cancel",
      "notebooks.list",
      "notebooks.create",
      "notebooks.get",
      "notebooks.update",
      "notebooks.delete",
      "notebooks.search",
      "notebooks.listDocuments",
      "notebooks.createDocument",
      "notebooks.getDocument",
      "notebooks.deleteDocument",
      "skills.list",
      "skills.create",
      "skills.get",
      "skills.replace",
      "skills.delete",
      "skills.versions",
      "mcpServers.list",
      "mcpServers.create",
      "mcpServers.get",
      "mcpServers.update",
      "mcpServers.delete",
      "mcpServers.check",
      "secrets.list",
      "secrets.put",
      "secrets.delete",
      "conversations.list",
      "conversations.create",
      "conversations.get",
      "conversations.send",
      "conversations.messages",
      "conversations.events",
      "conversations.trace",
      "conversations.stop",
      "feedback.rate",
      "feedback.ofConversation",
      "feedback.list",
      "feedback.counts",
      "interactions.list",
      "interactions.get",
      "interactions.answer",
      "interactions.cancel",
      "functions.list",
      "functions.take",
      "functions.renew",
      "functions.release",
      "functions.endpoint",
      "functions.setEndpoint",
      "functions.deleteEndpoint",
      "functions.rollEndpointSecret",
      "tasks.list",
      "tasks.get",
      "tasks.delete",
      "tasks.trace",
      "tasks.data",
      "batches.list",
      "batches.create",
      "batches.get",
      "batches.items",
      "batches.cancel",
      "routines.list",
      "routines.create",
      "routines.get",
      "routines.update",
      "routines.delete",
      "routines.run",
      "routines.trigger",
      "users.list",
      "users.create",
      "users.get",
      "users.update",
      "users.delete",
      "users.warm",
      "users.screenshot",
      "browser.fetch",
      "browser.cookies",
      "browser.watch",
      "memory.list",
      "memory.create",
      "memory.search",
      "memory.delete",
      "memory.deleteAll",
      "files.list",
      "files.create",
      "files.get",
      "files.delete",
      "sessions.create",
      "sessions.get",
      "sessions.delete",
      "sessions.framePolicy",
      "webhooks.list",
      "webhooks.create",
      "webhooks.get",
      "webhooks.update",
      "webhooks.delete",
      "webhooks.rollSecret",
      "webhooks.test",
      "webhooks.deliveries",
      "webhooks.retry",
      "events.list",
      "events.get",
      "apps.list",
      "apps.getClient",
      "apps.putClient",
      "apps.deleteClient",
      "connections.list",
      "connections.create",
      "connections.callback",
      "connections.delete",
      "protocols.mcp",
      "protocols.a2a",
      "protocols.agentCard",
      "openai.chat",
      "openai.respond",
      "openai.response",
      "openai.cancel",
      "openai.createConversation",
      "openai.conversation",
      "openai.models",
      "openai.model",
      "agUi.run",
      "me.get",
      "orgs.get",
      "orgs.update",
      "orgs.rollMemorySecret",
      "keys.list",
      "keys.create",
      "keys.roll",
      "keys.revoke",
      "limits.get",
      "limits.update",
      "usage.report",
      "usage.lineItems",
      "auditLog.list",
      "models.list",
      "members.list",
      "members.invite",
      "members.accept",
      "members.update",
      "members.remove",
      "members.resetPassword",
      "consoleAccess.login",
      "consoleAccess.resetPassword",
      "consoleAccess.logout",
      "consoleAccess.session",
      "consoleAccount.show",
      "consoleAccount.update",
      "consoleAccount.changePassword",
      "consoleAccount.signIns",
      "consoleAccount.endSignIn",
      "consoleAccount.endOtherSignIns",
      "consoleSignIn.begin",
      "consoleSignIn.callback",
      "consoleSignIn.link",
      "consoleSignIn.unlink",
      "passkeys.list",
      "passkeys.beginRegistration",
      "passkeys.register",
      "passkeys.update",
      "passkeys.remove",
      "passkeys.beginSignIn",
      "passkeys.signIn",
      "identityProvider.get",
      "health.get"
    ],
    "csrf_token": "csrf_…",
    "expires_at": "2026-11-16T09:30:00.000Z"
  },
  "consoleAccount.show": {
    "object": "console_account",
    "member": {
      "object": "member",
      "id": "mbr_01kb5hq8e700000000000002",
      "email": "ada@shop.example.com",
      "name": "Ada Lovelace",
      "role": "admin",
      "status": "active",
      "created_at": "2026-11-16T09:30:00.000Z"
    },
    "has_password": true,
    "linked_identity": null
  },
  "consoleAccount.update": {
    "object": "console_account",
    "member": {
      "object": "member",
      "id": "mbr_01kb5hq8e700000000000002",
      "email": "ada@shop.example.com",
      "name": "Ada King",
      "role": "admin",
      "status": "active",
      "created_at": "2026-11-16T09:30:00.000Z"
    },
    "has_password": true,
    "linked_identity": null
  },
  "consoleAccount.changePassword": {
    "object": "console_account",
    "member": {
      "object": "member",
      "id": "mbr_01kb5hq8e700000000000002",
      "email": "ada@shop.example.com",
      "name": "Ada King",
      "role": "admin",
      "status": "active",
      "created_at": "2026-11-16T09:30:00.000Z"
    },
    "has_password": true,
    "linked_identity": null
  },
  "consoleAccount.signIns": {
    "data": [
      {
        "object": "console_sign_in",
        "id": "cses_01kb5hq8e700000000000001",
        "device": "An unknown browser",
        "ip": "203.0.113.7",
        "is_current": true,
        "created_at": "2026-11-16T09:30:00.000Z",
        "last_seen_at": "2026-11-16T09:30:00.000Z",
        "expires_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "console_sign_in",
        "id": "cses_01kb5hq8e700000000000002",
        "device": "An unknown browser",
        "ip": "203.0.113.7",
        "is_current": false,
        "created_at": "2026-11-16T09:30:00.000Z",
        "last_seen_at": "2026-11-16T09:30:00.000Z",
        "expires_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "consoleAccount.endSignIn": {
    "object": "console_sign_in",
    "id": "cses_01kb5hq8e700000000000002",
    "deleted": true
  },
  "consoleAccount.endOtherSignIns": {
    "object": "console_sign_in",
    "ended": 1
  },
  "passkeys.list": {
    "data": [],
    "next_cursor": null
  },
  "consoleAccess.logout": {
    "object": "console_session",
    "deleted": true
  },
  "members.remove": {
    "object": "member",
    "id": "mbr_01kb5hq8e700000000000002",
    "deleted": true
  },
  "secrets.put": {
    "object": "secret",
    "name": "SHOP_TOKEN",
    "user_id": null,
    "mode": "test",
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "secrets.list": {
    "data": [
      {
        "object": "secret",
        "name": "SHOP_TOKEN",
        "user_id": null,
        "mode": "test",
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "notebooks.create": {
    "object": "notebook",
    "id": "nb_01kb5hq8e700000000000001",
    "slug": "handbook",
    "name": "Shop handbook",
    "description": "Opening hours, returns and washing.",
    "access": {
      "mode": "all"
    },
    "document_count": 0,
    "bytes": 0,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "notebooks.list": {
    "data": [
      {
        "object": "notebook",
        "id": "nb_01kb5hq8e700000000000001",
        "slug": "handbook",
        "name": "Shop handbook",
        "description": "Opening hours, returns and washing.",
        "access": {
          "mode": "all"
        },
        "document_count": 0,
        "bytes": 0,
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "notebooks.get": {
    "object": "notebook",
    "id": "nb_01kb5hq8e700000000000001",
    "slug": "handbook",
    "name": "Shop handbook",
    "description": "Opening hours, returns and washing.",
    "access": {
      "mode": "all"
    },
    "document_count": 0,
    "bytes": 0,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "notebooks.update": {
    "object": "notebook",
    "id": "nb_01kb5hq8e700000000000001",
    "slug": "handbook",
    "name": "Shop handbook",
    "description": "Opening hours, returns, washing and repairs.",
    "access": {
      "mode": "all"
    },
    "document_count": 0,
    "bytes": 0,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "notebooks.createDocument": {
    "object": "document",
    "id": "doc_01kb5hq8e700000000000001",
    "notebook_id": "nb_01kb5hq8e700000000000001",
    "title": "Opening hours",
    "content_type": "text/plain",
    "bytes": 50,
    "sha256": "d8101f6d2ff0d3152d9a95932cf1c4d258f178ba6fe06e0bc453fd63a8d426f5",
    "indexed": false,
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "notebooks.listDocuments": {
    "data": [
      {
        "object": "document",
        "id": "doc_01kb5hq8e700000000000001",
        "notebook_id": "nb_01kb5hq8e700000000000001",
        "title": "Opening hours",
        "content_type": "text/plain",
        "bytes": 50,
        "sha256": "d8101f6d2ff0d3152d9a95932cf1c4d258f178ba6fe06e0bc453fd63a8d426f5",
        "indexed": false,
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "notebooks.getDocument": {
    "object": "document",
    "id": "doc_01kb5hq8e700000000000001",
    "notebook_id": "nb_01kb5hq8e700000000000001",
    "title": "Opening hours",
    "content_type": "text/plain",
    "bytes": 50,
    "sha256": "d8101f6d2ff0d3152d9a95932cf1c4d258f178ba6fe06e0bc453fd63a8d426f5",
    "indexed": false,
    "created_at": "2026-11-16T09:30:00.000Z",
    "text": "The shop is open from Monday to Saturday, 9 to 18."
  },
  "notebooks.search": {
    "query": "When is the shop open?",
    "passages": [
      {
        "document_id": "doc_01kb5hq8e700000000000001",
        "title": "Opening hours",
        "heading": "",
        "page": null,
        "text": "The shop is open from Monday to Saturday, 9 to 18."
      }
    ],
    "unindexed": 1
  },
  "skills.create": {
    "object": "skill",
    "id": "skl_01kb5hq8e700000000000001",
    "source": "company",
    "slug": "returns",
    "name": "returns",
    "description": "How a return is taken and what is said about refunds.",
    "version": "c91cc79f2ad226fd8d547aeab68d23d4009896159d6135605b0978207b45f125",
    "sha256": "c91cc79f2ad226fd8d547aeab68d23d4009896159d6135605b0978207b45f125",
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "skills.list": {
    "data": [
      {
        "object": "skill",
        "id": "skl_01kb5hq8e700000000000001",
        "source": "company",
        "slug": "returns",
        "name": "returns",
        "description": "How a return is taken and what is said about refunds.",
        "version": "c91cc79f2ad226fd8d547aeab68d23d4009896159d6135605b0978207b45f125",
        "sha256": "c91cc79f2ad226fd8d547aeab68d23d4009896159d6135605b0978207b45f125",
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "skills.get": {
    "object": "skill",
    "id": "skl_01kb5hq8e700000000000001",
    "source": "company",
    "slug": "returns",
    "name": "returns",
    "description": "How a return is taken and what is said about refunds.",
    "version": "c91cc79f2ad226fd8d547aeab68d23d4009896159d6135605b0978207b45f125",
    "sha256": "c91cc79f2ad226fd8d547aeab68d23d4009896159d6135605b0978207b45f125",
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z",
    "files": [
      {
        "path": "SKILL.md",
        "bytes": 121,
        "content": "---\nname: returns\ndescription: How a return is taken and what is said about refunds.\n---\nAsk for the order number first.\n"
      }
    ]
  },
  "skills.replace": {
    "object": "skill",
    "id": "skl_01kb5hq8e700000000000001",
    "source": "company",
    "slug": "returns",
    "name": "returns",
    "description": "How a return is taken and what is said about refunds.",
    "version": "b81dfa5766ee02e843e7870691fa45a37d26dbe85bf2a1744a656dbc6552fd56",
    "sha256": "b81dfa5766ee02e843e7870691fa45a37d26dbe85bf2a1744a656dbc6552fd56",
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "skills.versions": {
    "data": [
      {
        "object": "skill_version",
        "hash": "b81dfa5766ee02e843e7870691fa45a37d26dbe85bf2a1744a656dbc6552fd56",
        "parent_hash": "c91cc79f2ad226fd8d547aeab68d23d4009896159d6135605b0978207b45f125",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "skill_version",
        "hash": "c91cc79f2ad226fd8d547aeab68d23d4009896159d6135605b0978207b45f125",
        "parent_hash": null,
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "mcpServers.create": {
    "object": "mcp_server",
    "id": "mcp_01kb5hq8e700000000000001",
    "slug": "stock",
    "name": "Stock of the warehouse",
    "url": "https://stock.example.com/mcp",
    "auth": {
      "type": "headers",
      "headers": {
        "Authorization": "Bearer ${secret:SHOP_TOKEN}"
      }
    },
    "tools": {
      "deny": [],
      "require_approval": [
        "reserve"
      ]
    },
    "secrets": [
      "SHOP_TOKEN"
    ],
    "user_secrets": [],
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "mcpServers.list": {
    "data": [
      {
        "object": "mcp_server",
        "id": "mcp_01kb5hq8e700000000000001",
        "slug": "stock",
        "name": "Stock of the warehouse",
        "url": "https://stock.example.com/mcp",
        "auth": {
          "type": "headers",
          "headers": {
            "Authorization": "Bearer ${secret:SHOP_TOKEN}"
          }
        },
        "tools": {
          "deny": [],
          "require_approval": [
            "reserve"
          ]
        },
        "secrets": [
          "SHOP_TOKEN"
        ],
        "user_secrets": [],
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "mcpServers.get": {
    "object": "mcp_server",
    "id": "mcp_01kb5hq8e700000000000001",
    "slug": "stock",
    "name": "Stock of the warehouse",
    "url": "https://stock.example.com/mcp",
    "auth": {
      "type": "headers",
      "headers": {
        "Authorization": "Bearer ${secret:SHOP_TOKEN}"
      }
    },
    "tools": {
      "deny": [],
      "require_approval": [
        "reserve"
      ]
    },
    "secrets": [
      "SHOP_TOKEN"
    ],
    "user_secrets": [],
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "mcpServers.update": {
    "object": "mcp_server",
    "id": "mcp_01kb5hq8e700000000000001",
    "slug": "stock",
    "name": "Stock of the warehouse",
    "url": "https://stock.example.com/mcp",
    "auth": {
      "type": "headers",
      "headers": {
        "Authorization": "Bearer ${secret:SHOP_TOKEN}"
      }
    },
    "tools": {
      "deny": [
        "remove_item"
      ],
      "require_approval": [
        "reserve"
      ]
    },
    "secrets": [
      "SHOP_TOKEN"
    ],
    "user_secrets": [],
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "deployments.put": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000001",
    "name": "support-desk",
    "slug": "support-desk",
    "description": "",
    "base": "agent",
    "status": "active",
    "draft_version": 1,
    "live_version": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z",
    "version": {
      "object": "deployment_version",
      "deployment_id": "dep_01kb5hq8e700000000000001",
      "version": 1,
      "note": null,
      "manifest": {
        "instructions": "You are the support desk of Maple & Thread, a shop for knitwear. Look orders up before you speak of them.",
        "language": "auto",
        "model": "default",
        "apps": "all",
        "approvals": [
          "payment",
          "booking",
          "cancellation"
        ],
        "limits": {
          "max_steps": 100,
          "max_minutes": 60
        },
        "mcp_servers": [],
        "mcp_tool_policy": {},
        "tools": [
          {
            "input": {
              "order_number": "string"
            },
            "timeout_s": 120,
            "read_only": true,
            "run_without_asking": false,
            "approver": "user",
            "function": "find_order",
            "description": "Finds an order by its number."
          }
        ],
        "skills": [],
        "notebooks": [
          "nb_01kb5hq8e700000000000001"
        ],
        "memory": null,
        "environment": null,
        "browser": null
      },
      "changed": [
        "instructions",
        "tools",
        "notebooks",
        "tests"
      ],
      "missing": [],
      "tests": null,
      "is_draft": true,
      "is_live": false,
      "created_by": {
        "type": "key",
        "id": "key_01kb5hq8e700000000000001",
        "name": "First test key"
      },
      "created_at": "2026-11-16T09:30:00.000Z"
    },
    "promoted": true,
    "became_default": true,
    "test_run": null,
    "webhook_secrets": [],
    "changed": [
      "instructions",
      "tools",
      "knowledge",
      "tests"
    ],
    "created": true,
    "warnings": []
  },
  "deployments.create": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000002",
    "name": "Night desk",
    "slug": "night-desk",
    "description": "",
    "base": "agent",
    "status": "active",
    "draft_version": 1,
    "live_version": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "deployments.list": {
    "data": [
      {
        "object": "deployment",
        "id": "dep_01kb5hq8e700000000000002",
        "name": "Night desk",
        "slug": "night-desk",
        "description": "",
        "base": "agent",
        "status": "active",
        "draft_version": 1,
        "live_version": null,
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "deployment",
        "id": "dep_01kb5hq8e700000000000001",
        "name": "support-desk",
        "slug": "support-desk",
        "description": "",
        "base": "agent",
        "status": "active",
        "draft_version": 1,
        "live_version": null,
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "deployments.get": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000001",
    "name": "support-desk",
    "slug": "support-desk",
    "description": "",
    "base": "agent",
    "status": "active",
    "draft_version": 1,
    "live_version": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "deployments.update": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000001",
    "name": "support-desk",
    "slug": "support-desk",
    "description": "Answers customers about their orders.",
    "base": "agent",
    "status": "active",
    "draft_version": 1,
    "live_version": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "deployments.listVersions": {
    "data": [
      {
        "object": "deployment_version",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "version": 1,
        "note": null,
        "manifest": {
          "instructions": "You are the support desk of Maple & Thread, a shop for knitwear. Look orders up before you speak of them.",
          "language": "auto",
          "model": "default",
          "apps": "all",
          "approvals": [
            "payment",
            "booking",
            "cancellation"
          ],
          "limits": {
            "max_steps": 100,
            "max_minutes": 60
          },
          "mcp_servers": [],
          "mcp_tool_policy": {},
          "tools": [
            {
              "input": {
                "order_number": "string"
              },
              "timeout_s": 120,
              "read_only": true,
              "run_without_asking": false,
              "approver": "user",
              "function": "find_order",
              "description": "Finds an order by its number."
            }
          ],
          "skills": [],
          "notebooks": [
            "nb_01kb5hq8e700000000000001"
          ],
          "memory": null,
          "environment": null,
          "browser": null
        },
        "changed": [
          "instructions",
          "tools",
          "notebooks",
          "tests"
        ],
        "missing": [],
        "tests": null,
        "is_draft": true,
        "is_live": false,
        "created_by": {
          "type": "key",
          "id": "key_01kb5hq8e700000000000001",
          "name": "First test key"
        },
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "deployments.getVersion": {
    "object": "deployment_version",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "version": 1,
    "note": null,
    "manifest": {
      "instructions": "You are the support desk of Maple & Thread, a shop for knitwear. Look orders up before you speak of them.",
      "language": "auto",
      "model": "default",
      "apps": "all",
      "approvals": [
        "payment",
        "booking",
        "cancellation"
      ],
      "limits": {
        "max_steps": 100,
        "max_minutes": 60
      },
      "mcp_servers": [],
      "mcp_tool_policy": {},
      "tools": [
        {
          "input": {
            "order_number": "string"
          },
          "timeout_s": 120,
          "read_only": true,
          "run_without_asking": false,
          "approver": "user",
          "function": "find_order",
          "description": "Finds an order by its number."
        }
      ],
      "skills": [],
      "notebooks": [
        "nb_01kb5hq8e700000000000001"
      ],
      "memory": null,
      "environment": null,
      "browser": null
    },
    "changed": [
      "instructions",
      "tools",
      "notebooks",
      "tests"
    ],
    "missing": [],
    "tests": null,
    "is_draft": true,
    "is_live": false,
    "created_by": {
      "type": "key",
      "id": "key_01kb5hq8e700000000000001",
      "name": "First test key"
    },
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "functions.list": {
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "version": 1,
    "data": [
      {
        "name": "find_order",
        "description": "Finds an order by its number.",
        "input_schema": {
          "type": "object",
          "properties": {
            "order_number": {
              "type": "string"
            }
          },
          "required": [
            "order_number"
          ],
          "additionalProperties": false
        },
        "timeout_s": 120,
        "read_only": true,
        "run_without_asking": false
      }
    ]
  },
  "functions.setEndpoint": {
    "object": "function_endpoint",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "mode": "test",
    "url": "https://shop.example.com/functions",
    "last_failure": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z",
    "secret": "whsec_…"
  },
  "functions.endpoint": {
    "object": "function_endpoint",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "mode": "test",
    "url": "https://shop.example.com/functions",
    "last_failure": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "functions.rollEndpointSecret": {
    "object": "function_endpoint",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "mode": "test",
    "url": "https://shop.example.com/functions",
    "last_failure": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z",
    "secret": "whsec_…"
  },
  "functions.deleteEndpoint": {
    "object": "function_endpoint",
    "id": "dep_01kb5hq8e700000000000001",
    "deleted": true
  },
  "mcpServers.delete": {
    "object": "mcp_server",
    "id": "mcp_01kb5hq8e700000000000001",
    "deleted": true
  },
  "webhooks.create": {
    "object": "webhook_endpoint",
    "id": "whk_01kb5hq8e700000000000001",
    "url": "https://shop.example.com/hooks",
    "events": [
      "task.completed",
      "interaction.created"
    ],
    "description": null,
    "active": true,
    "mode": "test",
    "deployment_id": null,
    "managed_by": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z",
    "secret": "whsec_…"
  },
  "webhooks.list": {
    "data": [
      {
        "object": "webhook_endpoint",
        "id": "whk_01kb5hq8e700000000000001",
        "url": "https://shop.example.com/hooks",
        "events": [
          "task.completed",
          "interaction.created"
        ],
        "description": null,
        "active": true,
        "mode": "test",
        "deployment_id": null,
        "managed_by": null,
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "webhooks.get": {
    "object": "webhook_endpoint",
    "id": "whk_01kb5hq8e700000000000001",
    "url": "https://shop.example.com/hooks",
    "events": [
      "task.completed",
      "interaction.created"
    ],
    "description": null,
    "active": true,
    "mode": "test",
    "deployment_id": null,
    "managed_by": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "webhooks.update": {
    "object": "webhook_endpoint",
    "id": "whk_01kb5hq8e700000000000001",
    "url": "https://shop.example.com/hooks",
    "events": [
      "task.completed",
      "interaction.created"
    ],
    "description": "Tells the warehouse.",
    "active": true,
    "mode": "test",
    "deployment_id": null,
    "managed_by": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "webhooks.rollSecret": {
    "object": "webhook_endpoint",
    "id": "whk_01kb5hq8e700000000000001",
    "url": "https://shop.example.com/hooks",
    "events": [
      "task.completed",
      "interaction.created"
    ],
    "description": "Tells the warehouse.",
    "active": true,
    "mode": "test",
    "deployment_id": null,
    "managed_by": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z",
    "secret": "whsec_…"
  },
  "users.create": {
    "object": "user",
    "id": "nora",
    "name": "Nora Lind",
    "email": null,
    "locale": "en",
    "timezone": "Europe/Oslo",
    "metadata": {},
    "status": "active",
    "spend_cap_usd": null,
    "monthly_cap_usd": null,
    "default_deployment": null,
    "memory_mode": "vestra",
    "is_service_user": false,
    "created_at": "2026-11-16T09:30:00.000Z",
    "spend_today_usd": 0,
    "spend_month_usd": 0,
    "caps_remaining": {
      "day_usd": 5,
      "month_usd": null
    }
  },
  "users.get": {
    "object": "user",
    "id": "nora",
    "name": "Nora Lind",
    "email": null,
    "locale": "en",
    "timezone": "Europe/Oslo",
    "metadata": {},
    "status": "active",
    "spend_cap_usd": null,
    "monthly_cap_usd": null,
    "default_deployment": null,
    "memory_mode": "vestra",
    "is_service_user": false,
    "created_at": "2026-11-16T09:30:00.000Z",
    "spend_today_usd": 0,
    "spend_month_usd": 0,
    "caps_remaining": {
      "day_usd": 5,
      "month_usd": null
    }
  },
  "users.list": {
    "data": [
      {
        "object": "user",
        "id": "nora",
        "name": "Nora Lind",
        "email": null,
        "locale": "en",
        "timezone": "Europe/Oslo",
        "metadata": {},
        "status": "active",
        "spend_cap_usd": null,
        "monthly_cap_usd": null,
        "default_deployment": null,
        "memory_mode": "vestra",
        "is_service_user": false,
        "created_at": "2026-11-16T09:30:00.000Z",
        "spend_today_usd": 0,
        "spend_month_usd": 0,
        "caps_remaining": {
          "day_usd": 5,
          "month_usd": null
        }
      }
    ],
    "next_cursor": null
  },
  "users.update": {
    "object": "user",
    "id": "nora",
    "name": "Nora Lind",
    "email": null,
    "locale": "en",
    "timezone": "Europe/Oslo",
    "metadata": {},
    "status": "active",
    "spend_cap_usd": 2,
    "monthly_cap_usd": null,
    "default_deployment": null,
    "memory_mode": "vestra",
    "is_service_user": false,
    "created_at": "2026-11-16T09:30:00.000Z",
    "spend_today_usd": 0,
    "spend_month_usd": 0,
    "caps_remaining": {
      "day_usd": 2,
      "month_usd": null
    }
  },
  "conversations.create": {
    "object": "conversation",
    "id": "conv_01kb5hq8e700000000000001",
    "user_id": "nora",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "deployment_version": 1,
    "status": "idle",
    "metadata": {
      "channel": "web"
    },
    "created_at": "2026-11-16T09:30:00.000Z",
    "last_active_at": "2026-11-16T09:30:00.000Z",
    "open_work": [],
    "open_interactions": [],
    "pending_tool_calls": [],
    "last_event_seq": 0,
    "cost_usd": 0,
    "cost_breakdown": {
      "orchestrator": 0,
      "intelligence": 0,
      "tools": 0,
      "compute": 0,
      "background": 0,
      "voice": 0
    }
  },
  "conversations.send": {
    "object": "turn",
    "id": "turn_01kb5hq8e700000000000001",
    "conversation_id": "conv_01kb5hq8e700000000000001",
    "status": "settled",
    "reply": {
      "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
      "data": null
    },
    "acknowledgement": null,
    "task_id": null,
    "interactions": [],
    "error": null,
    "cost_usd": 0.00051,
    "created_at": "2026-11-16T09:30:00.000Z",
    "settled_at": "2026-11-16T09:30:00.000Z"
  },
  "conversations.messages": {
    "data": [
      {
        "object": "message",
        "id": "msg_01kb5hq8e700000000000001",
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "turn_id": "turn_01kb5hq8e700000000000001",
        "task_id": null,
        "role": "agent",
        "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
        "data": null,
        "context": null,
        "attachments": [],
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "message",
        "id": "msg_01kb5hq8e700000000000002",
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "turn_id": "turn_01kb5hq8e700000000000001",
        "task_id": null,
        "role": "user",
        "text": "When are you open?",
        "data": null,
        "context": null,
        "attachments": [],
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "feedback.rate": {
    "object": "message_feedback",
    "id": "fbk_01kb5hq8e700000000000001",
    "conversation_id": "conv_01kb5hq8e700000000000001",
    "message_id": "msg_01kb5hq8e700000000000001",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "deployment_version": 1,
    "rating": "bad",
    "comment": "It says nothing of Sundays.",
    "rater": {
      "type": "key",
      "id": "key_01kb5hq8e700000000000001"
    },
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "feedback.ofConversation": {
    "data": [
      {
        "object": "message_feedback",
        "id": "fbk_01kb5hq8e700000000000001",
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "message_id": "msg_01kb5hq8e700000000000001",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "deployment_version": 1,
        "rating": "bad",
        "comment": "It says nothing of Sundays.",
        "rater": {
          "type": "key",
          "id": "key_01kb5hq8e700000000000001"
        },
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "feedback.list": {
    "data": [
      {
        "object": "message_feedback",
        "id": "fbk_01kb5hq8e700000000000001",
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "message_id": "msg_01kb5hq8e700000000000001",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "deployment_version": 1,
        "rating": "bad",
        "comment": "It says nothing of Sundays.",
        "rater": {
          "type": "key",
          "id": "key_01kb5hq8e700000000000001"
        },
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "feedback.counts": {
    "object": "feedback_counts",
    "data": [
      {
        "version": 1,
        "good": 0,
        "bad": 1
      }
    ]
  },
  "conversations.events": {
    "data": [
      {
        "object": "event",
        "id": "evt_01kb5hq8e700000000000002",
        "type": "turn.started",
        "seq": 1,
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "task_id": null,
        "turn_id": "turn_01kb5hq8e700000000000001",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "created_at": "2026-11-16T09:30:00.000Z",
        "data": {
          "turn": {
            "object": "turn",
            "id": "turn_01kb5hq8e700000000000001",
            "conversation_id": "conv_01kb5hq8e700000000000001",
            "status": "replying",
            "reply": null,
            "acknowledgement": null,
            "task_id": null,
            "interactions": [],
            "error": null,
            "cost_usd": 0,
            "created_at": "2026-11-16T09:30:00.000Z",
            "settled_at": null
          }
        }
      },
      {
        "object": "event",
        "id": "evt_01kb5hq8e700000000000003",
        "type": "conversation.status",
        "seq": 2,
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "task_id": null,
        "turn_id": null,
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "created_at": "2026-11-16T09:30:00.000Z",
        "data": {
          "status": "replying"
        }
      },
      {
        "object": "event",
        "id": "evt_01kb5hq8e700000000000004",
        "type": "reply.delta",
        "seq": 3,
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "task_id": null,
        "turn_id": "turn_01kb5hq8e700000000000001",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "created_at": "2026-11-16T09:30:00.000Z",
        "data": {
          "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
          "message_id": "msg_01kb5hq8e700000000000001"
        }
      }
    ],
    "next_after": 3
  },
  "conversations.get": {
    "object": "conversation",
    "id": "conv_01kb5hq8e700000000000001",
    "user_id": "nora",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "deployment_version": 1,
    "status": "idle",
    "metadata": {
      "channel": "web"
    },
    "created_at": "2026-11-16T09:30:00.000Z",
    "last_active_at": "2026-11-16T09:30:00.000Z",
    "open_work": [],
    "open_interactions": [],
    "pending_tool_calls": [],
    "last_event_seq": 6,
    "cost_usd": 0.00051,
    "cost_breakdown": {
      "orchestrator": 0.00051,
      "intelligence": 0,
      "tools": 0,
      "compute": 0,
      "background": 0,
      "voice": 0
    }
  },
  "conversations.list": {
    "data": [
      {
        "object": "conversation",
        "id": "conv_01kb5hq8e700000000000001",
        "user_id": "nora",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "deployment_version": 1,
        "status": "idle",
        "metadata": {
          "channel": "web"
        },
        "created_at": "2026-11-16T09:30:00.000Z",
        "last_active_at": "2026-11-16T09:30:00.000Z",
        "open_work": [],
        "open_interactions": [],
        "pending_tool_calls": [],
        "last_event_seq": 6,
        "cost_usd": 0.00051,
        "cost_breakdown": {
          "orchestrator": 0.00051,
          "intelligence": 0,
          "tools": 0,
          "compute": 0,
          "background": 0,
          "voice": 0
        }
      }
    ],
    "next_cursor": null
  },
  "interactions.list": {
    "data": [
      {
        "object": "interaction",
        "id": "call_01kb5hq8e700000000000001",
        "user_id": "nora",
        "task_id": null,
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "kind": "custom",
        "type": "tool_call",
        "status": "pending",
        "summary": "Finds an order by its number. find_order, order_number: MT-1042",
        "moves_money": null,
        "requires_present_user": false,
        "needs": [],
        "details": {
          "tool_name": "find_order",
          "rows": [
            {
              "label": "order_number",
              "value": "MT-1042"
            }
          ],
          "renderer": "tool_call"
        },
        "outcome": null,
        "created_at": "2026-11-16T09:30:00.000Z",
        "expires_at": "2026-11-16T09:30:00.000Z",
        "resolved_at": null
      }
    ],
    "next_cursor": null
  },
  "interactions.get": {
    "object": "interaction",
    "id": "call_01kb5hq8e700000000000001",
    "user_id": "nora",
    "task_id": null,
    "conversation_id": "conv_01kb5hq8e700000000000001",
    "kind": "custom",
    "type": "tool_call",
    "status": "pending",
    "summary": "Finds an order by its number. find_order, order_number: MT-1042",
    "moves_money": null,
    "requires_present_user": false,
    "needs": [],
    "details": {
      "tool_name": "find_order",
      "rows": [
        {
          "label": "order_number",
          "value": "MT-1042"
        }
      ],
      "renderer": "tool_call"
    },
    "outcome": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "expires_at": "2026-11-16T09:30:00.000Z",
    "resolved_at": null
  },
  "functions.take": {
    "data": [
      {
        "object": "tool_call",
        "call_id": "call_01kb5hq8e700000000000001",
        "name": "find_order",
        "arguments": {
          "order_number": "MT-1042"
        },
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "task_id": null,
        "user_id": "nora",
        "claim_id": "claim_1",
        "attempt": 1,
        "taken_until": "2026-11-16T09:30:00.000Z",
        "expires_at": "2026-11-16T09:30:00.000Z"
      }
    ]
  },
  "functions.renew": {
    "call_id": "call_01kb5hq8e700000000000001",
    "taken_until": "2026-11-16T09:30:00.000Z"
  },
  "functions.release": {
    "call_id": "call_01kb5hq8e700000000000001",
    "released": true
  },
  "interactions.answer": {
    "object": "interaction",
    "id": "call_01kb5hq8e700000000000001",
    "user_id": "nora",
    "task_id": null,
    "conversation_id": "conv_01kb5hq8e700000000000001",
    "kind": "custom",
    "type": "tool_call",
    "status": "resolved",
    "summary": "Finds an order by its number. find_order, order_number: MT-1042",
    "moves_money": null,
    "requires_present_user": false,
    "needs": [],
    "details": {
      "tool_name": "find_order",
      "rows": [
        {
          "label": "order_number",
          "value": "MT-1042"
        }
      ],
      "renderer": "tool_call"
    },
    "outcome": {
      "decision": "answered"
    },
    "created_at": "2026-11-16T09:30:00.000Z",
    "expires_at": "2026-11-16T09:30:00.000Z",
    "resolved_at": "2026-11-16T09:30:00.000Z"
  },
  "interactions.cancel": {
    "object": "interaction",
    "id": "call_01kb5hq8e700000000000002",
    "user_id": "nora",
    "task_id": null,
    "conversation_id": "conv_01kb5hq8e700000000000002",
    "kind": "custom",
    "type": "tool_call",
    "status": "cancelled",
    "summary": "Finds an order by its number. find_order, order_number: MT-1042",
    "moves_money": null,
    "requires_present_user": false,
    "needs": [],
    "details": {
      "tool_name": "find_order",
      "rows": [
        {
          "label": "order_number",
          "value": "MT-1042"
        }
      ],
      "renderer": "tool_call"
    },
    "outcome": {
      "decision": "cancelled"
    },
    "created_at": "2026-11-16T09:30:00.000Z",
    "expires_at": "2026-11-16T09:30:00.000Z",
    "resolved_at": "2026-11-16T09:30:00.000Z"
  },
  "conversations.stop": {
    "object": "conversation",
    "id": "conv_01kb5hq8e700000000000002",
    "user_id": "nora",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "deployment_version": 1,
    "status": "idle",
    "metadata": {},
    "created_at": "2026-11-16T09:30:00.000Z",
    "last_active_at": "2026-11-16T09:30:00.000Z",
    "open_work": [],
    "open_interactions": [],
    "pending_tool_calls": [],
    "last_event_seq": 9,
    "cost_usd": 0.00024,
    "cost_breakdown": {
      "orchestrator": 0.00024,
      "intelligence": 0,
      "tools": 0,
      "compute": 0,
      "background": 0,
      "voice": 0
    }
  },
  "conversations.trace": {
    "object": "turn_trace",
    "conversation_id": "conv_01kb5hq8e700000000000001",
    "turn_id": "turn_01kb5hq8e700000000000001",
    "task_id": null,
    "steps": [
      {
        "tool_use_id": "call_01kb5hq8e700000000000003",
        "name": "search_notebooks",
        "input_summary": "query: When are you open?",
        "output_summary": "# Document: Opening hours The shop is open from Monday to Saturday, 9 to 18. [The notebooks are still being indexed (1 document): what is found may be incomplete.]",
        "is_error": false,
        "started_at": "2026-11-16T09:30:00.000Z",
        "finished_at": "2026-11-16T09:30:00.000Z",
        "duration_ms": 12
      },
      {
        "tool_use_id": "call_01kb5hq8e700000000000004",
        "name": "recall",
        "input_summary": "query: When are you open?",
        "output_summary": "You remember nothing about this.",
        "is_error": false,
        "started_at": "2026-11-16T09:30:00.000Z",
        "finished_at": "2026-11-16T09:30:00.000Z",
        "duration_ms": 12
      }
    ],
    "turns": [
      {
        "turn_id": "turn_01kb5hq8e700000000000001",
        "model": "offline",
        "input_tokens": 2353,
        "output_tokens": 21,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cache_share": 0,
        "cost_usd": 0.00024,
        "duration_ms": 12,
        "status": "completed",
        "started_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "turn_id": "turn_01kb5hq8e700000000000001",
        "model": "offline",
        "input_tokens": 2460,
        "output_tokens": 54,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cache_share": 0,
        "cost_usd": 0.00027,
        "duration_ms": 12,
        "status": "completed",
        "started_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "totals": {
      "input_tokens": 4813,
      "output_tokens": 75,
      "cost_usd": 0.00051
    },
    "missing_tools": []
  },
  "tasks.list": {
    "data": [
      {
        "object": "task",
        "id": "task_01kb5hq8e700000000000001",
        "user_id": "nora",
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "deployment_version": 1,
        "status": "done",
        "title": null,
        "progress": [],
        "result": {
          "text": "{\"answer\":\"From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”\"}",
          "data": {
            "answer": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”"
          }
        },
        "outcome": null,
        "error": null,
        "cost_usd": 0.00089,
        "cost_breakdown": {
          "orchestrator": 0,
          "intelligence": 0.00089,
          "tools": 0,
          "compute": 0,
          "background": 0,
          "voice": 0
        },
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "tasks.get": {
    "object": "task",
    "id": "task_01kb5hq8e700000000000001",
    "user_id": "nora",
    "conversation_id": "conv_01kb5hq8e700000000000001",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "deployment_version": 1,
    "status": "done",
    "title": null,
    "progress": [],
    "result": {
      "text": "{\"answer\":\"From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”\"}",
      "data": {
        "answer": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”"
      }
    },
    "outcome": null,
    "error": null,
    "cost_usd": 0.00089,
    "cost_breakdown": {
      "orchestrator": 0,
      "intelligence": 0.00089,
      "tools": 0,
      "compute": 0,
      "background": 0,
      "voice": 0
    },
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "tasks.data": {
    "answer": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”"
  },
  "tasks.trace": {
    "object": "task_trace",
    "task_id": "task_01kb5hq8e700000000000001",
    "steps": [
      {
        "tool_use_id": "call_01kb5hq8e700000000000005",
        "name": "search_notebooks",
        "input_summary": "query: When is the shop open?",
        "output_summary": "# Document: Opening hours The shop is open from Monday to Saturday, 9 to 18.",
        "is_error": false,
        "started_at": "2026-11-16T09:30:00.000Z",
        "finished_at": "2026-11-16T09:30:00.000Z",
        "duration_ms": 12
      },
      {
        "tool_use_id": "call_01kb5hq8e700000000000006",
        "name": "recall",
        "input_summary": "query: When is the shop open?",
        "output_summary": "You remember nothing about this.",
        "is_error": false,
        "started_at": "2026-11-16T09:30:00.000Z",
        "finished_at": "2026-11-16T09:30:00.000Z",
        "duration_ms": 12
      }
    ],
    "turns": [
      {
        "turn_id": "turn_01kb5hq8e700000000000004",
        "model": "offline",
        "input_tokens": 4339,
        "output_tokens": 23,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cache_share": 0,
        "cost_usd": 0.00044,
        "duration_ms": 12,
        "status": "completed",
        "started_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "turn_id": "turn_01kb5hq8e700000000000004",
        "model": "offline",
        "input_tokens": 4426,
        "output_tokens": 22,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cache_share": 0,
        "cost_usd": 0.00045,
        "duration_ms": 12,
        "status": "completed",
        "started_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "totals": {
      "input_tokens": 8765,
      "output_tokens": 45,
      "cost_usd": 0.00089
    },
    "missing_tools": []
  },
  "usage.lineItems": {
    "data": [
      {
        "object": "line_item",
        "id": "li_01kb5hq8e700000000000001",
        "kind": "intelligence",
        "model": "offline",
        "quantity": 22,
        "unit": "output_tokens",
        "unit_price_usd": 4e-7,
        "cost_usd": 0.000009,
        "task_id": "task_01kb5hq8e700000000000001",
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "line_item",
        "id": "li_01kb5hq8e700000000000002",
        "kind": "intelligence",
        "model": "offline",
        "quantity": 4426,
        "unit": "input_tokens",
        "unit_price_usd": 1e-7,
        "cost_usd": 0.000442,
        "task_id": "task_01kb5hq8e700000000000001",
        "conversation_id": "conv_01kb5hq8e700000000000001",
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": "WyIyMDI2…",
    "total": {
      "cost_usd": 0.000894
    }
  },
  "tasks.delete": {
    "object": "task",
    "id": "task_01kb5hq8e700000000000001",
    "deleted": true
  },
  "batches.create": {
    "object": "batch",
    "id": "bat_01kb5hq8e700000000000001",
    "status": "running",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "concurrency": 5,
    "item_count": 1,
    "counts": {
      "queued": 1,
      "running": 0,
      "succeeded": 0,
      "failed": 0,
      "cancelled": 0
    },
    "spend_usd": 0,
    "metadata": {},
    "created_at": "2026-11-16T09:30:00.000Z",
    "completed_at": null
  },
  "batches.list": {
    "data": [
      {
        "object": "batch",
        "id": "bat_01kb5hq8e700000000000001",
        "status": "running",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "concurrency": 5,
        "item_count": 1,
        "counts": {
          "queued": 1,
          "running": 0,
          "succeeded": 0,
          "failed": 0,
          "cancelled": 0
        },
        "spend_usd": 0,
        "metadata": {},
        "created_at": "2026-11-16T09:30:00.000Z",
        "completed_at": null
      }
    ],
    "next_cursor": null
  },
  "batches.get": {
    "object": "batch",
    "id": "bat_01kb5hq8e700000000000001",
    "status": "running",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "concurrency": 5,
    "item_count": 1,
    "counts": {
      "queued": 1,
      "running": 0,
      "succeeded": 0,
      "failed": 0,
      "cancelled": 0
    },
    "spend_usd": 0,
    "metadata": {},
    "created_at": "2026-11-16T09:30:00.000Z",
    "completed_at": null
  },
  "batches.items": {
    "data": [
      {
        "object": "batch.item",
        "index": 0,
        "user_id": "nora",
        "status": "queued",
        "conversation_id": null,
        "task_id": null,
        "result": null,
        "error": null,
        "metadata": {},
        "created_at": "2026-11-16T09:30:00.000Z",
        "finished_at": null
      }
    ],
    "next_cursor": null
  },
  "batches.cancel": {
    "object": "batch",
    "id": "bat_01kb5hq8e700000000000001",
    "status": "cancelled",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "concurrency": 5,
    "item_count": 1,
    "counts": {
      "queued": 0,
      "running": 1,
      "succeeded": 0,
      "failed": 0,
      "cancelled": 0
    },
    "spend_usd": 0,
    "metadata": {},
    "created_at": "2026-11-16T09:30:00.000Z",
    "completed_at": null
  },
  "routines.create": {
    "object": "routine",
    "id": "rtn_01kb5hq8e700000000000001",
    "user_id": "nora",
    "conversation_id": "conv_01kb5hq8e700000000000003",
    "name": "Say which orders arrive today.",
    "ask": "Say which orders arrive today.",
    "kind": "schedule",
    "schedule": {
      "every": "weekday at 08:00",
      "cron": "0 8 * * 1-5",
      "timezone": "Europe/Oslo"
    },
    "trigger": null,
    "trigger_url": null,
    "enabled": true,
    "status": "active",
    "last_run_at": null,
    "next_run_at": "2026-11-16T09:30:00.000Z",
    "run_count": 0,
    "last_error": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "routines.list": {
    "data": [
      {
        "object": "routine",
        "id": "rtn_01kb5hq8e700000000000001",
        "user_id": "nora",
        "conversation_id": "conv_01kb5hq8e700000000000003",
        "name": "Say which orders arrive today.",
        "ask": "Say which orders arrive today.",
        "kind": "schedule",
        "schedule": {
          "every": "weekday at 08:00",
          "cron": "0 8 * * 1-5",
          "timezone": "Europe/Oslo"
        },
        "trigger": null,
        "trigger_url": null,
        "enabled": true,
        "status": "active",
        "last_run_at": null,
        "next_run_at": "2026-11-16T09:30:00.000Z",
        "run_count": 0,
        "last_error": null,
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "routines.get": {
    "object": "routine",
    "id": "rtn_01kb5hq8e700000000000001",
    "user_id": "nora",
    "conversation_id": "conv_01kb5hq8e700000000000003",
    "name": "Say which orders arrive today.",
    "ask": "Say which orders arrive today.",
    "kind": "schedule",
    "schedule": {
      "every": "weekday at 08:00",
      "cron": "0 8 * * 1-5",
      "timezone": "Europe/Oslo"
    },
    "trigger": null,
    "trigger_url": null,
    "enabled": true,
    "status": "active",
    "last_run_at": null,
    "next_run_at": "2026-11-16T09:30:00.000Z",
    "run_count": 0,
    "last_error": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "routines.update": {
    "object": "routine",
    "id": "rtn_01kb5hq8e700000000000001",
    "user_id": "nora",
    "conversation_id": "conv_01kb5hq8e700000000000003",
    "name": "Say which orders arrive today.",
    "ask": "Say which orders arrive today.",
    "kind": "schedule",
    "schedule": {
      "every": "weekday at 08:00",
      "cron": "0 8 * * 1-5",
      "timezone": "Europe/Oslo"
    },
    "trigger": null,
    "trigger_url": null,
    "enabled": false,
    "status": "active",
    "last_run_at": null,
    "next_run_at": null,
    "run_count": 0,
    "last_error": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "routines.run": {
    "object": "routine_run",
    "routine_id": "rtn_01kb5hq8e700000000000001",
    "status": "started",
    "conversation_id": "conv_01kb5hq8e700000000000003",
    "turn_id": "turn_01kb5hq8e700000000000005"
  },
  "routines.trigger": {
    "object": "routine_run",
    "routine_id": "rtn_01kb5hq8e700000000000002",
    "status": "started",
    "conversation_id": "conv_01kb5hq8e700000000000004",
    "turn_id": "turn_01kb5hq8e700000000000006"
  },
  "routines.delete": {
    "object": "routine",
    "id": "rtn_01kb5hq8e700000000000001",
    "deleted": true
  },
  "memory.create": {
    "object": "memory",
    "id": "mem_01kb5hq8e700000000000001",
    "text": "Prefers wool to cotton.",
    "kind": "preference",
    "source": "user_direct",
    "observed_at": "2026-11-16T09:30:00.000Z"
  },
  "memory.list": {
    "data": [
      {
        "object": "memory",
        "id": "mem_01kb5hq8e700000000000001",
        "text": "Prefers wool to cotton.",
        "kind": "preference",
        "source": "user_direct",
        "observed_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null,
    "profile": {
      "markdown": "## What they prefer\n\n- Prefers wool to cotton.",
      "updated_at": "2026-11-16T09:30:00.000Z"
    }
  },
  "memory.search": {
    "query": "wool",
    "found": true,
    "text": "Prefers wool to cotton."
  },
  "memory.delete": {
    "object": "memory",
    "id": "mem_01kb5hq8e700000000000001",
    "deleted": true
  },
  "memory.deleteAll": {
    "user_id": "nora",
    "deleted": true,
    "memories_deleted": 0
  },
  "files.create": {
    "object": "file",
    "id": "file_01kb5hq8e700000000000001",
    "user_id": "nora",
    "filename": "receipt.txt",
    "mime_type": "text/plain",
    "size_bytes": 24,
    "source": "upload",
    "task_id": null,
    "conversation_id": null,
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "files.list": {
    "data": [
      {
        "object": "file",
        "id": "file_01kb5hq8e700000000000001",
        "user_id": "nora",
        "filename": "receipt.txt",
        "mime_type": "text/plain",
        "size_bytes": 24,
        "source": "upload",
        "task_id": null,
        "conversation_id": null,
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "files.get": {
    "object": "file",
    "id": "file_01kb5hq8e700000000000001",
    "user_id": "nora",
    "filename": "receipt.txt",
    "mime_type": "text/plain",
    "size_bytes": 24,
    "source": "upload",
    "task_id": null,
    "conversation_id": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "download_url": "https://vestra.example.com/downloads/file_01kb5hq8e700000000000001?expires=1794818503964&signature=c2pvGiVGAuSQFpbucyXsnHlGu6H3dYGcWq5dw441Wl0",
    "download_expires_at": "2026-11-16T09:30:00.000Z"
  },
  "files.delete": {
    "object": "file",
    "id": "file_01kb5hq8e700000000000001",
    "deleted": true
  },
  "sessions.create": {
    "object": "session",
    "id": "ses_01kb5hq8e700000000000001",
    "user_id": "nora",
    "conversation_id": "conv_01kb5hq8e700000000000005",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "chat": true,
    "screen": false,
    "voice": false,
    "memory": false,
    "expires_at": "2026-11-16T09:30:00.000Z",
    "status": "live",
    "opening": null,
    "token": "vst_…",
    "url": "https://vestra.example.com/session/ses_01kb5hq8e700000000000001#token=token_3",
    "frame_ancestors": [
      "https://shop.example.com"
    ]
  },
  "sessions.get": {
    "object": "session",
    "id": "ses_01kb5hq8e700000000000001",
    "user_id": "nora",
    "conversation_id": "conv_01kb5hq8e700000000000005",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "chat": true,
    "screen": false,
    "voice": false,
    "memory": false,
    "expires_at": "2026-11-16T09:30:00.000Z",
    "status": "live",
    "opening": null
  },
  "sessions.framePolicy": {
    "object": "frame_policy",
    "frame_ancestors": [
      "https://shop.example.com"
    ]
  },
  "sessions.delete": {
    "object": "session",
    "id": "ses_01kb5hq8e700000000000001",
    "user_id": "nora",
    "conversation_id": "conv_01kb5hq8e700000000000005",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "chat": true,
    "screen": false,
    "voice": false,
    "memory": false,
    "expires_at": "2026-11-16T09:30:00.000Z",
    "status": "revoked",
    "opening": null
  },
  "webhooks.test": {
    "object": "webhook_delivery",
    "id": "whd_01kb5hq8e700000000000001",
    "endpoint_id": "whk_01kb5hq8e700000000000001",
    "event_id": "evt_01kb5hq8e700000000000005",
    "event_type": "webhook.test",
    "attempt": 1,
    "status": "failed",
    "status_code": null,
    "duration_ms": 12,
    "error": "shop.example.com could not be reached: it has no public address.",
    "next_attempt_at": null,
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "webhooks.deliveries": {
    "data": [
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000001",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000005",
        "event_type": "webhook.test",
        "attempt": 1,
        "status": "failed",
        "status_code": null,
        "duration_ms": 12,
        "error": "shop.example.com could not be reached: it has no public address.",
        "next_attempt_at": null,
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000002",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000006",
        "event_type": "interaction.created",
        "attempt": 2,
        "status": "pending",
        "status_code": null,
        "duration_ms": null,
        "error": null,
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000003",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000006",
        "event_type": "interaction.created",
        "attempt": 1,
        "status": "failed",
        "status_code": null,
        "duration_ms": 12,
        "error": "shop.example.com could not be reached: it has no public address.",
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000004",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000007",
        "event_type": "interaction.created",
        "attempt": 2,
        "status": "pending",
        "status_code": null,
        "duration_ms": null,
        "error": null,
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000005",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000007",
        "event_type": "interaction.created",
        "attempt": 1,
        "status": "failed",
        "status_code": null,
        "duration_ms": 12,
        "error": "shop.example.com could not be reached: it has no public address.",
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000006",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000008",
        "event_type": "task.completed",
        "attempt": 2,
        "status": "pending",
        "status_code": null,
        "duration_ms": null,
        "error": null,
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000007",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000008",
        "event_type": "task.completed",
        "attempt": 1,
        "status": "failed",
        "status_code": null,
        "duration_ms": 12,
        "error": "shop.example.com could not be reached: it has no public address.",
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000008",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000009",
        "event_type": "interaction.created",
        "attempt": 2,
        "status": "pending",
        "status_code": null,
        "duration_ms": null,
        "error": null,
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000009",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000009",
        "event_type": "interaction.created",
        "attempt": 1,
        "status": "failed",
        "status_code": null,
        "duration_ms": 12,
        "error": "shop.example.com could not be reached: it has no public address.",
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000010",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000010",
        "event_type": "interaction.created",
        "attempt": 2,
        "status": "pending",
        "status_code": null,
        "duration_ms": null,
        "error": null,
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "webhook_delivery",
        "id": "whd_01kb5hq8e700000000000011",
        "endpoint_id": "whk_01kb5hq8e700000000000001",
        "event_id": "evt_01kb5hq8e700000000000010",
        "event_type": "interaction.created",
        "attempt": 1,
        "status": "failed",
        "status_code": null,
        "duration_ms": 12,
        "error": "shop.example.com could not be reached: it has no public address.",
        "next_attempt_at": "2026-11-16T09:30:00.000Z",
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "webhooks.retry": {
    "object": "webhook_delivery",
    "id": "whd_01kb5hq8e700000000000012",
    "endpoint_id": "whk_01kb5hq8e700000000000001",
    "event_id": "evt_01kb5hq8e700000000000005",
    "event_type": "webhook.test",
    "attempt": 2,
    "status": "failed",
    "status_code": null,
    "duration_ms": 12,
    "error": "shop.example.com could not be reached: it has no public address.",
    "next_attempt_at": null,
    "created_at": "2026-11-16T09:30:00.000Z"
  },
  "webhooks.delete": {
    "object": "webhook_endpoint",
    "id": "whk_01kb5hq8e700000000000001",
    "deleted": true
  },
  "scenarios.create": {
    "object": "scenario",
    "id": "scn_01kb5hq8e700000000000001",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "name": "A lost parcel",
    "persona": "A customer in a hurry.",
    "goal": "Find out where order MT-1042 is.",
    "success_criteria": [
      "It says where the order is."
    ],
    "must_never": [],
    "tool_results": {
      "find_order": {
        "order_number": "MT-1042",
        "state": "on its way"
      }
    },
    "managed_by": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "scenarios.list": {
    "data": [
      {
        "object": "scenario",
        "id": "scn_01kb5hq8e700000000000001",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "name": "A lost parcel",
        "persona": "A customer in a hurry.",
        "goal": "Find out where order MT-1042 is.",
        "success_criteria": [
          "It says where the order is."
        ],
        "must_never": [],
        "tool_results": {
          "find_order": {
            "order_number": "MT-1042",
            "state": "on its way"
          }
        },
        "managed_by": null,
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      },
      {
        "object": "scenario",
        "id": "scn_01kb5hq8e700000000000002",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "name": "Opening hours",
        "persona": "A person who uses this agent for the first time.",
        "goal": "When are you open?",
        "success_criteria": [
          "It says when the shop is open."
        ],
        "must_never": [],
        "managed_by": "file",
        "created_at": "2026-11-16T09:30:00.000Z",
        "updated_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "scenarios.get": {
    "object": "scenario",
    "id": "scn_01kb5hq8e700000000000001",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "name": "A lost parcel",
    "persona": "A customer in a hurry.",
    "goal": "Find out where order MT-1042 is.",
    "success_criteria": [
      "It says where the order is."
    ],
    "must_never": [],
    "tool_results": {
      "find_order": {
        "order_number": "MT-1042",
        "state": "on its way"
      }
    },
    "managed_by": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "scenarios.update": {
    "object": "scenario",
    "id": "scn_01kb5hq8e700000000000001",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "name": "A lost parcel",
    "persona": "A worried customer.",
    "goal": "Find out where order MT-1042 is.",
    "success_criteria": [
      "It says where the order is."
    ],
    "must_never": [],
    "tool_results": {
      "find_order": {
        "order_number": "MT-1042",
        "state": "on its way"
      }
    },
    "managed_by": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "scenarios.generate": {
    "object": "list",
    "data": [
      {
        "name": "Uses find_order",
        "persona": "A person who uses this agent for the first time.",
        "goal": "Please find order: Finds an order by its number.",
        "success_criteria": [
          "The agent calls `find_order`."
        ],
        "must_never": [],
        "tool_results": {
          "find_order": {
            "ok": true,
            "about": "Finds an order by its number"
          }
        }
      }
    ]
  },
  "testRuns.create": {
    "object": "test_run",
    "id": "trun_01kb5hq8e700000000000001",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "version": 1,
    "mode": "test",
    "status": "queued",
    "promote_on_pass": false,
    "counts": {
      "total": 2,
      "queued": 2,
      "running": 0,
      "passed": 0,
      "failed": 0,
      "error": 0
    },
    "results": [
      {
        "scenario_id": "scn_01kb5hq8e700000000000002",
        "name": "Opening hours",
        "status": "queued",
        "criteria": [],
        "must_never": [],
        "judged_by": null,
        "conversation_id": null,
        "transcript": [],
        "duration_ms": 12,
        "cost_usd": 0,
        "error_code": null,
        "error_message": null
      },
      {
        "scenario_id": "scn_01kb5hq8e700000000000001",
        "name": "A lost parcel",
        "status": "queued",
        "criteria": [],
        "must_never": [],
        "judged_by": null,
        "conversation_id": null,
        "transcript": [],
        "duration_ms": 12,
        "cost_usd": 0,
        "error_code": null,
        "error_message": null
      }
    ],
    "resumes": 0,
    "error_code": null,
    "note": null,
    "cost_usd": 0,
    "created_at": "2026-11-16T09:30:00.000Z",
    "started_at": null,
    "finished_at": null
  },
  "testRuns.events": {
    "object": "test_run_event",
    "seq": 1,
    "run_id": "trun_01kb5hq8e700000000000001",
    "type": "test_run.progress",
    "data": {
      "status": "queued",
      "counts": {
        "total": 2,
        "queued": 2,
        "running": 0,
        "passed": 0,
        "failed": 0,
        "error": 0
      },
      "note": null,
      "cost_usd": 0,
      "results": [
        {
          "scenario_id": "scn_01kb5hq8e700000000000002",
          "name": "Opening hours",
          "status": "queued",
          "criteria": [],
          "must_never": [],
          "judged_by": null,
          "conversation_id": null,
          "transcript": [],
          "duration_ms": 12,
          "cost_usd": 0,
          "error_code": null,
          "error_message": null
        },
        {
          "scenario_id": "scn_01kb5hq8e700000000000001",
          "name": "A lost parcel",
          "status": "queued",
          "criteria": [],
          "must_never": [],
          "judged_by": null,
          "conversation_id": null,
          "transcript": [],
          "duration_ms": 12,
          "cost_usd": 0,
          "error_code": null,
          "error_message": null
        }
      ]
    }
  },
  "testRuns.get": {
    "object": "test_run",
    "id": "trun_01kb5hq8e700000000000001",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "version": 1,
    "mode": "test",
    "status": "failed",
    "promote_on_pass": false,
    "counts": {
      "total": 2,
      "queued": 0,
      "running": 0,
      "passed": 0,
      "failed": 2,
      "error": 0
    },
    "results": [
      {
        "scenario_id": "scn_01kb5hq8e700000000000002",
        "name": "Opening hours",
        "status": "failed",
        "criteria": [
          {
            "text": "It says when the shop is open.",
            "met": false,
            "decided": false,
            "reason": "Not decided: the offline stand-in matches words and understands none. It can judge `The agent says \"…\".` and `The agent calls some_tool.`; set the key of a model provider to have everything judged."
          }
        ],
        "must_never": [],
        "judged_by": "offline",
        "conversation_id": "conv_01kb5hq8e700000000000006",
        "transcript": [
          {
            "role": "user",
            "text": "When are you open?"
          },
          {
            "role": "agent",
            "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”"
          }
        ],
        "duration_ms": 12,
        "cost_usd": 0.00061,
        "error_code": null,
        "error_message": null
      },
      {
        "scenario_id": "scn_01kb5hq8e700000000000001",
        "name": "A lost parcel",
        "status": "failed",
        "criteria": [
          {
            "text": "It says where the order is.",
            "met": false,
            "decided": false,
            "reason": "Not decided: the offline stand-in matches words and understands none. It can judge `The agent says \"…\".` and `The agent calls some_tool.`; set the key of a model provider to have everything judged."
          }
        ],
        "must_never": [],
        "judged_by": "offline",
        "conversation_id": "conv_01kb5hq8e700000000000007",
        "transcript": [
          {
            "role": "user",
            "text": "Find out where order MT-1042 is."
          },
          {
            "role": "agent",
            "text": "`find_order` answered: order number: MT-1042, state: on its way"
          }
        ],
        "duration_ms": 12,
        "cost_usd": 0.00059,
        "error_code": null,
        "error_message": null
      }
    ],
    "resumes": 0,
    "error_code": null,
    "note": null,
    "cost_usd": 0.0012,
    "created_at": "2026-11-16T09:30:00.000Z",
    "started_at": "2026-11-16T09:30:00.000Z",
    "finished_at": "2026-11-16T09:30:00.000Z"
  },
  "testRuns.list": {
    "data": [
      {
        "object": "test_run",
        "id": "trun_01kb5hq8e700000000000001",
        "deployment_id": "dep_01kb5hq8e700000000000001",
        "version": 1,
        "mode": "test",
        "status": "failed",
        "promote_on_pass": false,
        "counts": {
          "total": 2,
          "queued": 0,
          "running": 0,
          "passed": 0,
          "failed": 2,
          "error": 0
        },
        "results": [
          {
            "scenario_id": "scn_01kb5hq8e700000000000002",
            "name": "Opening hours",
            "status": "failed",
            "criteria": [
              {
                "text": "It says when the shop is open.",
                "met": false,
                "decided": false,
                "reason": "Not decided: the offline stand-in matches words and understands none. It can judge `The agent says \"…\".` and `The agent calls some_tool.`; set the key of a model provider to have everything judged."
              }
            ],
            "must_never": [],
            "judged_by": "offline",
            "conversation_id": "conv_01kb5hq8e700000000000006",
            "transcript": [],
            "duration_ms": 12,
            "cost_usd": 0.00061,
            "error_code": null,
            "error_message": null
          },
          {
            "scenario_id": "scn_01kb5hq8e700000000000001",
            "name": "A lost parcel",
            "status": "failed",
            "criteria": [
              {
                "text": "It says where the order is.",
                "met": false,
                "decided": false,
                "reason": "Not decided: the offline stand-in matches words and understands none. It can judge `The agent says \"…\".` and `The agent calls some_tool.`; set the key of a model provider to have everything judged."
              }
            ],
            "must_never": [],
            "judged_by": "offline",
            "conversation_id": "conv_01kb5hq8e700000000000007",
            "transcript": [],
            "duration_ms": 12,
            "cost_usd": 0.00059,
            "error_code": null,
            "error_message": null
          }
        ],
        "resumes": 0,
        "error_code": null,
        "note": null,
        "cost_usd": 0.0012,
        "created_at": "2026-11-16T09:30:00.000Z",
        "started_at": "2026-11-16T09:30:00.000Z",
        "finished_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": null
  },
  "testRuns.cancel": {
    "object": "test_run",
    "id": "trun_01kb5hq8e700000000000001",
    "deployment_id": "dep_01kb5hq8e700000000000001",
    "version": 1,
    "mode": "test",
    "status": "failed",
    "promote_on_pass": false,
    "counts": {
      "total": 2,
      "queued": 0,
      "running": 0,
      "passed": 0,
      "failed": 2,
      "error": 0
    },
    "results": [
      {
        "scenario_id": "scn_01kb5hq8e700000000000002",
        "name": "Opening hours",
        "status": "failed",
        "criteria": [
          {
            "text": "It says when the shop is open.",
            "met": false,
            "decided": false,
            "reason": "Not decided: the offline stand-in matches words and understands none. It can judge `The agent says \"…\".` and `The agent calls some_tool.`; set the key of a model provider to have everything judged."
          }
        ],
        "must_never": [],
        "judged_by": "offline",
        "conversation_id": "conv_01kb5hq8e700000000000006",
        "transcript": [
          {
            "role": "user",
            "text": "When are you open?"
          },
          {
            "role": "agent",
            "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”"
          }
        ],
        "duration_ms": 12,
        "cost_usd": 0.00061,
        "error_code": null,
        "error_message": null
      },
      {
        "scenario_id": "scn_01kb5hq8e700000000000001",
        "name": "A lost parcel",
        "status": "failed",
        "criteria": [
          {
            "text": "It says where the order is.",
            "met": false,
            "decided": false,
            "reason": "Not decided: the offline stand-in matches words and understands none. It can judge `The agent says \"…\".` and `The agent calls some_tool.`; set the key of a model provider to have everything judged."
          }
        ],
        "must_never": [],
        "judged_by": "offline",
        "conversation_id": "conv_01kb5hq8e700000000000007",
        "transcript": [
          {
            "role": "user",
            "text": "Find out where order MT-1042 is."
          },
          {
            "role": "agent",
            "text": "`find_order` answered: order number: MT-1042, state: on its way"
          }
        ],
        "duration_ms": 12,
        "cost_usd": 0.00059,
        "error_code": null,
        "error_message": null
      }
    ],
    "resumes": 0,
    "error_code": null,
    "note": null,
    "cost_usd": 0.0012,
    "created_at": "2026-11-16T09:30:00.000Z",
    "started_at": "2026-11-16T09:30:00.000Z",
    "finished_at": "2026-11-16T09:30:00.000Z"
  },
  "scenarios.delete": {
    "object": "scenario",
    "id": "scn_01kb5hq8e700000000000001",
    "deleted": true
  },
  "deployments.promote": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000001",
    "name": "support-desk",
    "slug": "support-desk",
    "description": "Answers customers about their orders.",
    "base": "agent",
    "status": "active",
    "draft_version": 1,
    "live_version": 1,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z",
    "version": {
      "object": "deployment_version",
      "deployment_id": "dep_01kb5hq8e700000000000001",
      "version": 1,
      "note": null,
      "manifest": {
        "instructions": "You are the support desk of Maple & Thread, a shop for knitwear. Look orders up before you speak of them.",
        "language": "auto",
        "model": "default",
        "apps": "all",
        "approvals": [
          "payment",
          "booking",
          "cancellation"
        ],
        "limits": {
          "max_steps": 100,
          "max_minutes": 60
        },
        "mcp_servers": [],
        "mcp_tool_policy": {},
        "tools": [
          {
            "input": {
              "order_number": "string"
            },
            "timeout_s": 120,
            "read_only": true,
            "run_without_asking": false,
            "approver": "user",
            "function": "find_order",
            "description": "Finds an order by its number."
          }
        ],
        "skills": [],
        "notebooks": [
          "nb_01kb5hq8e700000000000001"
        ],
        "memory": null,
        "environment": null,
        "browser": null
      },
      "changed": [
        "instructions",
        "tools",
        "notebooks",
        "tests"
      ],
      "missing": [],
      "tests": {
        "run_id": "trun_01kb5hq8e700000000000001",
        "status": "failed"
      },
      "is_draft": true,
      "is_live": true,
      "created_by": {
        "type": "key",
        "id": "key_01kb5hq8e700000000000001",
        "name": "First test key"
      },
      "created_at": "2026-11-16T09:30:00.000Z"
    },
    "promoted": true,
    "became_default": true,
    "test_run": null,
    "webhook_secrets": []
  },
  "deployments.rollback": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000001",
    "name": "support-desk",
    "slug": "support-desk",
    "description": "Answers customers about their orders.",
    "base": "agent",
    "status": "active",
    "draft_version": 2,
    "live_version": 1,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z",
    "webhook_secrets": []
  },
  "deployments.archive": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000002",
    "name": "Night desk",
    "slug": "night-desk",
    "description": "",
    "base": "agent",
    "status": "archived",
    "draft_version": 1,
    "live_version": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "deployments.unarchive": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000002",
    "name": "Night desk",
    "slug": "night-desk",
    "description": "",
    "base": "agent",
    "status": "active",
    "draft_version": 1,
    "live_version": null,
    "created_at": "2026-11-16T09:30:00.000Z",
    "updated_at": "2026-11-16T09:30:00.000Z"
  },
  "deployments.delete": {
    "object": "deployment",
    "id": "dep_01kb5hq8e700000000000002",
    "deleted": true
  },
  "deployments.interview": {
    "object": "interview",
    "conversation_id": "conv_01kb5hq8e700000000000008",
    "deployment": "repair-desk",
    "status": "asking",
    "question": "Who will talk to the agent, and what do they come for?",
    "file": {
      "name": "repair-desk",
      "instructions": "Answers customers of a bicycle shop about repairs.",
      "tests": [
        {
          "name": "Answers a typical request",
          "persona": "A person who uses this agent for the first time.",
          "ask": "Answers customers of a bicycle shop about repairs.",
          "expect": "The agent answers this: Answers customers of a bicycle shop about repairs."
        }
      ]
    },
    "yaml": "# The deployment file of repair-desk. Every key is described in docs/deployment-file.md.\n\nname: repair-desk\n\n# What the agent is told before every conversation. docs/deployment-file.md#instructions\ninstructions: Answers customers of a bicycle shop about repairs.\n\n# Pretend users; a version goes live when all of them are content. docs/deployment-file.md#tests\ntests:\n  - name: Answers a typical request\n    persona: A person who uses this agent for the first time.\n    ask: Answers customers of a bicycle shop about repairs.\n    expect: \"The agent answers this: Answers customers of a bicycle shop about repairs.\"\n"
  },
  "protocols.mcp": {
    "result": {
      "content": [
        {
          "type": "text",
          "text": "{\"object\":\"me\",\"org\":{\"id\":\"org_01kb5hq8e700000000000001\",\"name\":\"My company\",\"status\":\"active\"},\"mode\":\"test\",\"key\":{\"id\":\"key_01kb5hq8e700000000000001\",\"name\":\"First test key\",\"last4\":\"XkJk\"},\"member\":null}"
        }
      ],
      "structuredContent": {
        "object": "me",
        "org": {
          "id": "org_01kb5hq8e700000000000001",
          "name": "My company",
          "status": "active"
        },
        "mode": "test",
        "key": {
          "id": "key_01kb5hq8e700000000000001",
          "name": "First test key",
          "last4": "a1b2"
        },
        "member": null
      }
    },
    "jsonrpc": "2.0",
    "id": 1
  },
  "protocols.agentCard": {
    "name": "support-desk",
    "description": "Answers customers about their orders.",
    "supportedInterfaces": [
      {
        "url": "https://vestra.example.com/v1/a2a/dep_01kb5hq8e700000000000001",
        "protocolBinding": "JSONRPC",
        "protocolVersion": "1.0"
      }
    ],
    "provider": {
      "url": "https://vestra.example.com",
      "organization": "My company"
    },
    "version": "1",
    "documentationUrl": "https://vestra.example.com/docs",
    "capabilities": {
      "streaming": true,
      "pushNotifications": false,
      "extendedAgentCard": false
    },
    "securitySchemes": {
      "apiKey": {
        "httpAuthSecurityScheme": {
          "scheme": "Bearer",
          "description": "An API key with scope runtime or all."
        }
      }
    },
    "securityRequirements": [
      {
        "schemes": {
          "apiKey": {
            "list": []
          }
        }
      }
    ],
    "defaultInputModes": [
      "text/plain",
      "application/json"
    ],
    "defaultOutputModes": [
      "text/plain",
      "application/json"
    ],
    "skills": [
      {
        "id": "talk",
        "name": "Talk to support-desk",
        "description": "Answers customers about their orders.",
        "tags": [
          "conversation"
        ],
        "examples": [],
        "inputModes": [
          "text/plain",
          "application/json"
        ],
        "outputModes": [
          "text/plain",
          "application/json"
        ]
      }
    ]
  },
  "protocols.a2a": {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {
      "message": {
        "messageId": "msg_01kb5hq8e700000000000003",
        "contextId": "conv_01kb5hq8e700000000000009",
        "role": "ROLE_AGENT",
        "parts": [
          {
            "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
            "mediaType": "text/plain"
          }
        ]
      }
    }
  },
  "openai.models": {
    "object": "list",
    "data": [
      {
        "id": "support-desk",
        "object": "model",
        "created": 1794820200,
        "owned_by": "org_01kb5hq8e700000000000001"
      }
    ]
  },
  "openai.model": {
    "id": "support-desk",
    "object": "model",
    "created": 1794820200,
    "owned_by": "org_01kb5hq8e700000000000001"
  },
  "openai.chat": {
    "id": "chatcmpl-01m7hqefvaax0fdqkrhr2m6w0",
    "object": "chat.completion",
    "created": 1794820200,
    "model": "support-desk",
    "choices": [
      {
        "index": 0,
        "message": {
          "role": "assistant",
          "content": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
          "refusal": null
        },
        "logprobs": null,
        "finish_reason": "stop"
      }
    ],
    "usage": {
      "prompt_tokens": 4743,
      "completion_tokens": 75,
      "total_tokens": 4818,
      "prompt_tokens_details": {
        "cached_tokens": 0
      }
    }
  },
  "openai.createConversation": {
    "id": "conv_01kb5hq8e700000000000010",
    "object": "conversation",
    "created_at": 1794820200,
    "metadata": {
      "model": "support-desk",
      "user": "nora"
    }
  },
  "openai.conversation": {
    "id": "conv_01kb5hq8e700000000000001",
    "object": "conversation",
    "created_at": 1794820200,
    "metadata": {
      "channel": "web"
    }
  },
  "openai.respond": {
    "id": "resp_1",
    "object": "response",
    "created_at": 1794820200,
    "status": "completed",
    "background": false,
    "access_programs": null,
    "conversation": {
      "id": "conv_01kb5hq8e700000000000011"
    },
    "model": "support-desk",
    "error": null,
    "incomplete_details": null,
    "instructions": null,
    "metadata": {},
    "output": [
      {
        "id": "msg_resp_1_0",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
          {
            "type": "output_text",
            "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
            "annotations": [],
            "logprobs": []
          }
        ]
      }
    ],
    "output_text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
    "parallel_tool_calls": true,
    "temperature": null,
    "top_p": null,
    "tool_choice": "auto",
    "tools": [],
    "completed_at": 1794817605,
    "usage": {
      "input_tokens": 4743,
      "input_tokens_details": {
        "cached_tokens": 0,
        "cache_write_tokens": 0
      },
      "output_tokens": 75,
      "output_tokens_details": {
        "reasoning_tokens": 0
      },
      "total_tokens": 4818
    }
  },
  "openai.response": {
    "id": "resp_1",
    "object": "response",
    "created_at": 1794820200,
    "status": "completed",
    "background": true,
    "access_programs": null,
    "conversation": {
      "id": "conv_01kb5hq8e700000000000011"
    },
    "model": "support-desk",
    "error": null,
    "incomplete_details": null,
    "instructions": null,
    "metadata": {},
    "output": [
      {
        "id": "msg_resp_1_0",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
          {
            "type": "output_text",
            "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
            "annotations": [],
            "logprobs": []
          }
        ]
      }
    ],
    "output_text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
    "parallel_tool_calls": true,
    "temperature": null,
    "top_p": null,
    "tool_choice": "auto",
    "tools": [],
    "completed_at": 1794817605,
    "usage": {
      "input_tokens": 4743,
      "input_tokens_details": {
        "cached_tokens": 0,
        "cache_write_tokens": 0
      },
      "output_tokens": 75,
      "output_tokens_details": {
        "reasoning_tokens": 0
      },
      "total_tokens": 4818
    }
  },
  "openai.cancel": {
    "id": "resp_1",
    "object": "response",
    "created_at": 1794820200,
    "status": "completed",
    "background": true,
    "access_programs": null,
    "conversation": {
      "id": "conv_01kb5hq8e700000000000011"
    },
    "model": "support-desk",
    "error": null,
    "incomplete_details": null,
    "instructions": null,
    "metadata": {},
    "output": [
      {
        "id": "msg_resp_1_0",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
          {
            "type": "output_text",
            "text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
            "annotations": [],
            "logprobs": []
          }
        ]
      }
    ],
    "output_text": "From Opening hours: “The shop is open from Monday to Saturday, 9 to 18.”",
    "parallel_tool_calls": true,
    "temperature": null,
    "top_p": null,
    "tool_choice": "auto",
    "tools": [],
    "completed_at": 1794817605,
    "usage": {
      "input_tokens": 4743,
      "input_tokens_details": {
        "cached_tokens": 0,
        "cache_write_tokens": 0
      },
      "output_tokens": 75,
      "output_tokens_details": {
        "reasoning_tokens": 0
      },
      "total_tokens": 4818
    }
  },
  "agUi.run": {
    "type": "RUN_STARTED",
    "threadId": "thread-1",
    "runId": "run-1"
  },
  "usage.report": {
    "data": [
      {
        "object": "usage_row",
        "key": "nora",
        "label": null,
        "cost_usd": 0.00536,
        "task_count": 2,
        "input_tokens": 51264,
        "output_tokens": 581
      },
      {
        "object": "usage_row",
        "key": "",
        "label": "The org’s own agent",
        "cost_usd": 0.00145,
        "task_count": 0,
        "input_tokens": 12216,
        "output_tokens": 561
      }
    ],
    "next_cursor": null,
    "total": {
      "cost_usd": 0.0068,
      "task_count": 2,
      "input_tokens": 63480,
      "output_tokens": 1142
    }
  },
  "auditLog.list": {
    "data": [
      {
        "object": "audit_entry",
        "id": "aud_01kb5hq8e700000000000001",
        "action": "deployment.deleted",
        "actor": {
          "type": "key",
          "id": "key_01kb5hq8e700000000000001",
          "name": "First test key"
        },
        "target": {
          "type": "deployment",
          "id": "dep_01kb5hq8e700000000000002"
        },
        "ip": "203.0.113.7",
        "request_id": "req_01kb5hq8e700000000000001",
        "details": {
          "slug": "night-desk",
          "versions": 1
        },
        "created_at": "2026-11-16T09:30:00.000Z"
      }
    ],
    "next_cursor": "WyIyMDI2…"
  },
  "notebooks.deleteDocument": {
    "object": "document",
    "id": "doc_01kb5hq8e700000000000001",
    "deleted": true
  },
  "notebooks.delete": {
    "object": "notebook",
    "id": "nb_01kb5hq8e700000000000001",
    "deleted": true
  },
  "skills.delete": {
    "object": "skill",
    "id": "skl_01kb5hq8e700000000000001",
    "deleted": true
  },
  "secrets.delete": {
    "object": "secret",
    "name": "SHOP_TOKEN",
    "deleted": true
  },
  "users.delete": {
    "object": "user",
    "id": "nora",
    "deleted": false,
    "status": "deleting"
  }
};
