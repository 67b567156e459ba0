// The cluster that is simulated: hosts at a switch, each with a port for messages and one to the
// file system. Its figures are in the environment: numbers, bytes a second, seconds.

#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>

namespace {

namespace s4u = simgrid::s4u;

double figure(const std::string& name) {
  const char* text = std::getenv(("SIMULATED_" + name).c_str());
  if (text == nullptr) throw std::runtime_error("SIMULATED_" + name + " is not set");
  return std::stod(text);
}

/// Connects a host to the switch, by a link each way.
s4u::Host* connected(s4u::NetZone* cluster, const std::string& name, double out, double in,
                     double latency) {
  s4u::Host* host = cluster->create_host(name, 1.0);
  const s4u::Link* up = cluster->create_link(name + " out", out)->set_latency(latency)->seal();
  const s4u::Link* down = cluster->create_link(name + " in", in)->set_latency(latency)->seal();
  cluster->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {s4u::LinkInRoute(up)},
                     false);
  cluster->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {s4u::LinkInRoute(down)},
                     false);
  return host;
}

void add_host(s4u::NetZone* cluster, const std::string& number) {
  const double port = figure("PORT_RATE");
  s4u::Host* host = connected(cluster, "host" + number, port, port, figure("NETWORK_LATENCY") / 2);
  host->set_core_count(static_cast<int>(figure("CORES")));
  host->create_disk("memory", figure("HOST_RATE"), figure("HOST_RATE"))->seal();
  const s4u::Link* within = cluster->create_link("within " + number, figure("MEMORY_RATE"))
                                ->set_latency(figure("LOCAL_LATENCY"))
                                ->seal();
  cluster->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                     {s4u::LinkInRoute(within)}, false);
  host->seal();
  connected(cluster, "files" + number, figure("HOST_WRITE_RATE"), figure("HOST_READ_RATE"), 0)
      ->seal();
}

}  // namespace

extern "C" void load_platform(const s4u::Engine&) {
  s4u::NetZone* cluster = s4u::create_star_zone("cluster");
  const int hosts = static_cast<int>(figure("HOSTS"));
  for (int i = 0; i < hosts; ++i) add_host(cluster, std::to_string(i));
  connected(cluster, "files", figure("READ_RATE"), figure("WRITE_RATE"), 0)->seal();
  cluster->seal();
}
