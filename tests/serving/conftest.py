from tests.support.service.running import running as running
