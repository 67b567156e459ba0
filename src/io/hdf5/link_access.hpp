#pragma once

#include <set>
#include <string>

#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

/// External links passed on a path.
struct PassedLinks {
  std::set<std::string> files;  ///< that such links lie in
  std::string refused;          ///< the file that the rule on external files refuses, or empty
};

/// Makes access properties for paths that external links may lie on. Those to what is no regular
/// file lead nowhere: HDF5 would wait for a pipe's writer. Those to a file that the rule in force
/// refuses lead nowhere either. Other files are opened for reading. Fills `passed`, if not null,
/// which must outlive the properties. Throws Error. Call within a LibraryScope.
PropertiesHandle make_link_access(PassedLinks* passed);

/// Returns such properties, which fill nothing and stay as long as the process: HDF5 takes about as
/// long to make some as to look for a link.
hid_t link_access();

/// Makes existing access properties, of links or datasets, such. Throws Error.
void guard_links(hid_t access, PassedLinks* passed = nullptr);

/// Opens what a path leads to; none where HDF5 can't, whose error stack keeps the reasons, or the
/// rule on external files refuses a file on the way, also one that was put there after the path was
/// checked. Call within a LibraryScope.
ObjectHandle open_object(hid_t location, const std::string& path);

/// Throws RefusedFile, beginning with `problem`, where the rule in force refuses the open file that
/// an object lies in, which another file, `naming_file`, names. Checks the file that is open,
/// whatever has its name by now.
void require_opened_allowed(hid_t object, const std::string& naming_file,
                            const std::string& problem);

}  // namespace warpfold::io
